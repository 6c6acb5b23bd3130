/** Settings of the engine, from those of the process and the configuration file. */
import type { ServerConfig } from "../contract/config/parse-config.ts";
import { DEFAULT_SETTINGS, type EngineSettings } from "./deps.ts";

/** What the environment says. */
interface ProcessSettings {
  readonly filesDir?: string | undefined;
  readonly resourceLeases?: boolean | undefined;
  readonly secretKey?: string | undefined;
  readonly privateWebhooks?: boolean | undefined;
}

export function settingsOf(
  { filesDir, resourceLeases, secretKey, privateWebhooks }: ProcessSettings,
  { identity, retention }: ServerConfig,
): EngineSettings {
  return {
    ...DEFAULT_SETTINGS,
    retention,
    identity: identity ?? DEFAULT_SETTINGS.identity,
    filesDir: filesDir ?? null,
    secretKey: secretKey ?? null,
    privateWebhooks: privateWebhooks ?? DEFAULT_SETTINGS.privateWebhooks,
    resourceLeases: resourceLeases ?? DEFAULT_SETTINGS.resourceLeases,
  };
}

import type { ServerConfig } from "../../contract/config/parse-config.ts";
import type { EngineDeps } from "../deps.ts";
import { followServerConfig } from "./refresh-copies.ts";
import type { ServerConfigFile } from "./server-config.ts";

/** Items are kept to the configuration file, now and whenever it changes. */
export function followFile(deps: EngineDeps, config: ServerConfigFile): (now: ServerConfig) => Promise<void> {
  const { log } = deps;
  const follow = async ({ layer }: ServerConfig): Promise<void> => {
    if (await followServerConfig(deps, layer.fingerprint))
      log.info({}, "items follow the configuration file");
  };
  config.onChange((next) => {
    follow(next).catch((error: unknown) =>
      log.error({ err: error }, "items could not follow the configuration file; they will at the next start"),
    );
  });
  return follow;
}

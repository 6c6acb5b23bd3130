/** From the text of a configuration to what it says, with the fingerprint that it is known by. */
import { createHash } from "node:crypto";
import {
  type Parsed,
  parseProjectConfig,
  parseServerConfig,
  type ProjectConfig,
  type ServerConfig,
} from "../../contract/config/parse-config.ts";
import type { ConfigLayer } from "../../core/schemas/config-layer.ts";
import { readYaml, UnreadableYaml } from "./read-yaml.ts";

/** The same text on another system has another mark at its start and other ends of its lines. */
export function fingerprintOf(text: string): string {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  return createHash("sha256").update(plain).digest("hex");
}

export function readProjectConfig(text: string): Parsed<ProjectConfig> {
  return read(text, parseProjectConfig);
}

export function readServerConfig(text: string): Parsed<ServerConfig> {
  return read(text, parseServerConfig);
}

function read<C extends { readonly layer: ConfigLayer }>(
  text: string,
  parse: (data: unknown) => Parsed<C>,
): Parsed<C> {
  try {
    const parsed = parse(readYaml(text));
    if (!parsed.ok) return parsed;
    const { config } = parsed;
    return { ok: true, config: { ...config, layer: { ...config.layer, fingerprint: fingerprintOf(text) } } };
  } catch (error) {
    if (!(error instanceof UnreadableYaml)) throw error;
    return { ok: false, faults: [`it is no YAML that can be read: ${error.message}`] };
  }
}

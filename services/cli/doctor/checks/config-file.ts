/** The configuration file: whether it can be read, and whether the servers follow the same one. */
import { fault, type Finding, reasonOf, well } from "../finding.ts";

const CHECK = "config file";

export interface ReadFile {
  readonly path: string | null;
  readonly fingerprint: string | null;
}

/**
 * @param read throws what is wrong with it
 * @param followed what the servers follow; null where there is nobody to compare with
 */
export async function lookAtConfigFile(
  read: () => ReadFile,
  followed: () => Promise<string | null>,
): Promise<Finding> {
  let here: ReadFile;
  try {
    here = read();
  } catch (error) {
    const mend = "Correct it where the message says; servers that run go on with what they read before.";
    return fault(CHECK, reasonOf(error), mend);
  }
  const said = describe(here.path, here.fingerprint);
  const other = await followed();
  if (other === null || other === here.fingerprint) return well(CHECK, said);
  const detail = `${said} here, and the servers follow ${describe("another", other)}`;
  return fault(CHECK, detail, "Give all servers the same file, and this command too, with MUSTER_CONFIG.");
}

function describe(path: string | null, fingerprint: string | null): string {
  return path === null || fingerprint === null ? "none" : `${path} (${fingerprint.slice(0, 12)})`;
}

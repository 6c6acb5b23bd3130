/** Settings that cannot be meant: an address that is none, a port that does not exist. */
import { doctorConfig, type DoctorConfig, readConfig } from "../../../runtime/config.ts";
import { fault, type Finding, reasonOf, well } from "../finding.ts";

const CHECK = "config";

export function lookAtEnvironment(): {
  readonly config: DoctorConfig | null;
  readonly finding: Finding;
} {
  try {
    return { config: readConfig(doctorConfig), finding: well(CHECK, "the environment is valid") };
  } catch (error) {
    const mend = "Correct the variables that are named, and start the servers again.";
    return { config: null, finding: fault(CHECK, reasonOf(error), mend) };
  }
}

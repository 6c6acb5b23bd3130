/** Whether the schema is that of this version: neither older nor newer. */
import { fault, type Finding, type Patient, reasonOf, well } from "../finding.ts";

const CHECK = "schema";

export async function lookAtSchema({ checkSchema }: Patient): Promise<Finding> {
  try {
    await checkSchema();
    return well(CHECK, "current");
  } catch (error) {
    const reason = reasonOf(error);
    const mend = reason.includes("does not know")
      ? "Run the newer version of Muster everywhere, this command too, or restore an older backup."
      : "Run `muster migrate` with this version.";
    return fault(CHECK, reason, mend);
  }
}

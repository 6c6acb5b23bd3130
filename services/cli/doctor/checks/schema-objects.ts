/** Indexes and triggers that somebody dropped, or whose building was cut off. */
import { fault, type Finding, type Patient, well } from "../finding.ts";

const CHECK = "indexes";

export async function lookAtObjects({ diagnosis }: Patient): Promise<Finding> {
  const missing = await diagnosis.missingObjects();
  if (missing.length === 0) return well(CHECK, "every index and trigger of this version is there and valid");
  const names = missing.map((one) => `${one.kind} ${one.name} on ${one.table}`).join(", ");
  const statements = missing.map((one) => `${one.definition};`).join(" ");
  return fault(
    CHECK,
    `missing or broken: ${names}`,
    `Drop what is left of them and run, in psql: ${statements}`,
  );
}

/** Copies in `item_state` that say something else than their items: what claims are offered by. */
import { fault, type Finding, type Patient, well } from "../finding.ts";

const CHECK = "copies";
const SHOWN = 5;

export async function lookAtCopies({ diagnosis, repair }: Patient): Promise<Finding> {
  const changed = await diagnosis.changedCopies();
  if (changed.length === 0) return well(CHECK, "what claims are offered by is what the items say");
  if (repair) {
    const repaired = await diagnosis.repairCopies(changed);
    return well(CHECK, `repaired ${repaired} of ${changed.length} items whose copies had changed`);
  }
  const shown = changed.slice(0, SHOWN).join(", ");
  const more = changed.length > SHOWN ? ", …" : "";
  const detail = `${changed.length} items have another copy in item_state than they say: ${shown}${more}`;
  return fault(CHECK, detail, "Run `muster doctor --repair`, and find out who wrote past the trigger.");
}

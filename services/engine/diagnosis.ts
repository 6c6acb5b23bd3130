/** What `muster doctor` asks the database and the coordination: facts, for it to judge. */
import { expectedObjects } from "../../db/expected-objects.ts";
import type { OpenDatabase } from "../../db/open.ts";
import {
  countConnections,
  findClaimsBefore,
  findOverdue,
  listObjects,
} from "../../db/stores/catalogue-store.ts";
import { findChangedCopies, repairCopies } from "../../db/stores/copies-store.ts";
import { sweepAgeMs } from "../../db/stores/lapsed-store.ts";
import { findProcesses, measureSkewMs } from "../../db/stores/process-store.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Coordination } from "../coordination/port.ts";
import { SWEEP_GRACE_MAX_MS } from "./claims/free-lapsed.ts";
import type { Diagnosis } from "./facts.ts";

/** A process says every five seconds that it is there. */
const PRESENT_WITHIN_MS = 15_000;
/** A claim may be left alone for its grace, and then half a ttl while nobody can say that it lapsed. */
const OVERDUE_MS = 2 * SWEEP_GRACE_MAX_MS;
const COPIES_SHOWN = 1_000;
const REPAIR_BATCH = 100;

export function createDiagnosis(
  { db, kind }: Pick<OpenDatabase, "db" | "kind">,
  coordination: Coordination,
): Diagnosis {
  return {
    async missingObjects() {
      const [expected, found] = [await expectedObjects(), await listObjects(db)];
      const sound = new Set(found.filter((one) => one.valid).map((one) => `${one.kind} ${one.name}`));
      return expected.filter((one) => !sound.has(`${one.kind} ${one.name}`));
    },
    changedCopies: () => findChangedCopies(db, COPIES_SHOWN),
    async repairCopies(ids) {
      let repaired = 0;
      for (let start = 0; start < ids.length; start += REPAIR_BATCH) {
        const batch = ids.slice(start, start + REPAIR_BATCH);
        repaired += await inTransaction(db, (tx) => repairCopies(tx, batch));
      }
      return repaired;
    },
    skewMs: () => measureSkewMs(db),
    processes: () => findProcesses(db, PRESENT_WITHIN_MS),
    async sweep() {
      const { claims, oldestMs } = await findOverdue(db, OVERDUE_MS);
      return { ageMs: await sweepAgeMs(db), overdue: claims, oldestMs };
    },
    connections: async () => (kind === "pg" ? await countConnections(db) : null),
    coordination: () => coordination.health(),
    forgottenClaims: (sinceMs) => findClaimsBefore(db, sinceMs),
  };
}

/**
 * A worker process: takes items below one root through the SDK, pretends to work on them, and
 * writes down what it did.
 *
 *   node scripts/demo/worker.ts --name worker-1 --urls http://127.0.0.1:3001 --root <id> --journal <file>
 *
 * It ends on SIGTERM, and when whoever started it is gone.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createWorker, complete, type WorkerEvent } from "../../services/worker-sdk/index.ts";
import { appendLine, type EndedLine } from "./journal.ts";

const { values } = parseArgs({
  options: {
    name: { type: "string" },
    urls: { type: "string" },
    root: { type: "string" },
    journal: { type: "string" },
    slots: { type: "string", default: "1" },
    ttl: { type: "string", default: "5" },
    /** How long every item takes; by default the complexity of the item decides. */
    "work-ms": { type: "string" },
  },
});

const name = given("name");
const journal = given("journal");
const fixedWorkMs = values["work-ms"] === undefined ? undefined : Number(values["work-ms"]);

function given(option: "name" | "urls" | "root" | "journal"): string {
  const value = values[option];
  if (value === undefined) throw new TypeError(`--${option} is needed`);
  return value;
}

/** Some hundreds of milliseconds: long enough to be seen on the board, and to be killed in. */
function workMsOf(complexity: number): number {
  return 300 + 80 * complexity;
}

function reasonOf(event: Extract<WorkerEvent, { type: EndedLine["how"] }>): string {
  return event.type === "lost" ? event.lossCause : event.reason;
}

function note(event: WorkerEvent): void {
  switch (event.type) {
    case "completed": {
      const { itemId, fence, workerId } = event;
      appendLine(journal, { kind: "finished", at: Date.now(), itemId, fence, workerId });
      return;
    }
    case "lost":
    case "handed_back":
    case "failed":
    case "undelivered": {
      const { type: how, itemId, fence, workerId } = event;
      appendLine(journal, {
        kind: "ended",
        at: Date.now(),
        itemId,
        fence,
        workerId,
        how,
        reason: reasonOf(event),
      });
      return;
    }
    default:
  }
}

const worker = createWorker({
  urls: given("urls").split(","),
  agent: { id: name, kind: "subagent", parent: "planner" },
  selector: { ancestorId: given("root") },
  slots: Number(values.slots),
  ttlSeconds: Number(values.ttl),
  onEvent: note,
  async handler(item, { fence, attempt, workerId, signal }) {
    const workMs = fixedWorkMs ?? workMsOf(item.complexity ?? 5);
    appendLine(journal, {
      kind: "started",
      at: Date.now(),
      itemId: item.id,
      fence,
      workerId,
      title: item.title,
      attempt,
      workMs,
    });
    await delay(workMs, undefined, { signal });
    return complete({ summary: `Done by ${name} in ${workMs} ms, attempt ${attempt}.` });
  },
});

// Whoever started us is gone: nobody would ever end us.
process.on("disconnect", () => void worker.stop("the starter is gone"));
await worker.run();
if (process.connected) process.disconnect();

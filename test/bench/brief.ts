/** How many statements one brief of an item with as many notes as are read takes. */
import { createLocalCoordination } from "../../services/coordination/local/local-coordination.ts";
import { watchDatabase } from "../integration/advance/watched-database.ts";
import { createBenchEngine } from "./bench-engine.ts";

const NOTES = 50;

/** On a database that has the schema already. Names of the statements, in order. */
export async function briefStatements(url: string): Promise<string[]> {
  const watched = watchDatabase(url);
  const coordination = createLocalCoordination();
  const muster = createBenchEngine(watched, coordination);
  try {
    const { items } = await muster.call("manage_items", { operation: "create", items: [{ title: "Noted" }] });
    const itemId = (items as readonly { readonly id: string }[])[0]?.id ?? "";
    const notes = Array.from({ length: NOTES }, (_, n) => ({
      itemId,
      key: `note-${n}`,
      role: "work",
      body: `What was found out about part ${n}, and what is left to do about it.`,
    }));
    await muster.call("manage_notes", { operation: "upsert", notes });
    watched.taken();
    await muster.call("get_context", { mode: "brief", itemId });
    return watched.taken();
  } finally {
    await muster.close();
    await coordination.close();
    await watched.close();
  }
}

/** Who was heard of lately. */
import { type Handle, statement } from "../statement.ts";

export interface SeenAgent {
  readonly agent: string;
  readonly session: string;
  readonly kind: string;
  readonly parentAgent: string | null;
  readonly client: { readonly name: string; readonly version: string } | null;
  readonly capabilities: readonly string[];
}

const save = statement<never>(
  "agents_seen",
  `insert into agents (agent, session, kind, parent_agent, client, capabilities, last_seen_at)
   select c.agent, c.session, c.kind, c.parent_agent, c.client,
     array(select jsonb_array_elements_text(c.capabilities)), muster_now()
   from jsonb_to_recordset($1::jsonb)
     as c(agent text, session text, kind text, parent_agent text, client jsonb, capabilities jsonb)
   order by c.agent, c.session
   on conflict (agent, session) do update set
     kind = excluded.kind, parent_agent = excluded.parent_agent, client = excluded.client,
     capabilities = case when cardinality(excluded.capabilities) > 0 then excluded.capabilities else agents.capabilities end,
     last_seen_at = greatest(agents.last_seen_at, excluded.last_seen_at)`,
);

export async function saveSeen(handle: Handle, agents: readonly SeenAgent[]): Promise<void> {
  await save(handle, [
    JSON.stringify(
      agents.map((one) => ({
        agent: one.agent,
        session: one.session,
        kind: one.kind,
        parent_agent: one.parentAgent,
        client: one.client,
        capabilities: one.capabilities,
      })),
    ),
  ]);
}

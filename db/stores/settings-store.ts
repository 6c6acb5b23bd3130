/** Settings that all processes of an installation share. */
import { type Handle, statement } from "../statement.ts";

const propose = statement<never>(
  "settings_propose",
  "insert into muster_settings (name, value) values ($1, $2) on conflict (name) do nothing",
);
const read = statement<{ value: string }>(
  "settings_read",
  "select value from muster_settings where name = $1",
);

/** The value of a setting: the one that is there, else `proposal`, which then stays. */
export async function settleSetting(handle: Handle, name: string, proposal: string): Promise<string> {
  await propose(handle, [name, proposal]);
  // In a statement of its own, so that it sees what another process has just committed.
  const [row] = await read(handle, [name]);
  if (row === undefined) throw new Error(`The setting ${name} was written and is not there.`);
  return row.value;
}

export async function readSetting(handle: Handle, name: string): Promise<string | null> {
  const [row] = await read(handle, [name]);
  return row?.value ?? null;
}

const write = statement<never>(
  "settings_write",
  `insert into muster_settings (name, value) values ($1, $2)
   on conflict (name) do update set value = excluded.value, updated_at = now()`,
);

export async function writeSetting(handle: Handle, name: string, value: string): Promise<void> {
  await write(handle, [name, value]);
}

/** A session as others may see it: enough to tell two apart, too little to act as either. */
const SHOWN = 8;

export function shortSession(session: string): string {
  return session.length <= SHOWN ? `${session.slice(0, SHOWN / 2)}…` : `${session.slice(0, SHOWN)}…`;
}

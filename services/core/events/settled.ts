/**
 * How far the outbox can be read. A number that is missing belongs to a transaction that still
 * runs, and may come, or to one that was rolled back, and never will. Going on past the first
 * kind would lose an event for ever; waiting for the second would wait for ever.
 */

export interface Numbered {
  readonly seq: number;
}

/**
 * The part of `rows` that nothing can come before any more. `rows` are those above `after`, in order.
 * @param givenUpTo numbers up to this one that are missing now will never come.
 */
export function settledPart<Row extends Numbered>(
  rows: readonly Row[],
  after: number,
  givenUpTo: number,
): readonly Row[] {
  let last = after;
  const end = rows.findIndex(({ seq }) => {
    if (seq !== last + 1 && seq - 1 > givenUpTo) return true;
    last = seq;
    return false;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

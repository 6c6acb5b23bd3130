/** Thrown by a decision that reached what nobody had locked: the use case starts over with it in the set. */
export class NotLocked extends Error {
  /** Rows to lock next time. */
  readonly items: readonly string[];
  /** Items whose whole subtree must be locked next time. */
  readonly subtrees: readonly string[];
  /** Keys of resources to lock next time. */
  readonly keys: readonly string[];

  constructor(items: readonly string[], subtrees: readonly string[] = [], keys: readonly string[] = []) {
    super(`not in the locked set: ${[...items, ...subtrees, ...keys].join(", ")}`);
    this.name = "NotLocked";
    this.items = items;
    this.subtrees = subtrees;
    this.keys = keys;
  }
}

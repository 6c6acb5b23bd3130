/** A map that forgets what was not asked for the longest. */
export interface Recent<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

export function createRecent<K, V>(max: number): Recent<K, V> {
  // A map keeps the order in which keys were set.
  const entries = new Map<K, V>();
  const set = (key: K, value: V): void => {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size <= max) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
  };
}

/** Caches results by argument. A full cache is emptied, as tracking the order of access costs more than it saves. */
export function memoized<Key, Result>(most: number, make: (key: Key) => Result): (key: Key) => Result {
  const known = new Map<Key, Result>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = make(key);
    if (known.size >= most) known.clear();
    known.set(key, made);
    return made;
  };
}

/** Caches results as long as their argument lives. */
export function memoizedByObject<Owner extends object, Result>(
  make: (owner: Owner) => Result,
): (owner: Owner) => Result {
  const known = new WeakMap<Owner, Result>();
  return (owner) => {
    const before = known.get(owner);
    if (before !== undefined) return before;
    const made = make(owner);
    known.set(owner, made);
    return made;
  };
}

/**
 * The one key that JSON may hold and data here may not: an own `__proto__` becomes the prototype of whatever it is copied to,
 * or is silently left out by a copy that knows that. `constructor` and `prototype` are ordinary keys: nothing here merges
 * objects in depth.
 */

const forbidden = '__proto__';

/** An object or array that is still to be looked at, and the way to it. */
interface Visit {
  value: object;
  key: string;
  parent: Visit | null;
}

function pathTo(visit: Visit | null, last: string): (string | number)[] {
  const path: (string | number)[] = [last];
  for (let at = visit; at?.parent != null; at = at.parent)
    path.push(Array.isArray(at.parent.value) ? Number(at.key) : at.key);
  return path.reverse();
}

/**
 * The way to a key `__proto__` in a parsed JSON value, or null. `except` names a field of the outermost object whose array is
 * not looked into. Takes any depth: it does not recurse.
 */
export function prototypeKeyPath(value: unknown, except?: string): (string | number)[] | null {
  if (typeof value !== 'object' || value === null) return null;
  const open: Visit[] = [{ value, key: '', parent: null }];
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    if (Object.hasOwn(visit.value, forbidden)) return pathTo(visit, forbidden);
    for (const [key, inner] of Object.entries(visit.value)) {
      if (typeof inner !== 'object' || inner === null) continue;
      if (visit.parent === null && key === except && Array.isArray(inner)) continue;
      open.push({ value: inner, key, parent: visit });
    }
  }
  return null;
}

/** Bodies may not contain `__proto__`, which a copy would lose or use as its prototype. `constructor` is harmless. */
const forbidden = '__proto__';

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

/** Path to a forbidden key, or null. `except`: an outermost field whose array is skipped. Not recursive: any depth. */
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

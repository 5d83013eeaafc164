/** Compares an index with the rows that it is of: every key that there should be is there, and no other. */

/** Disagreements in words; `name` is what the index is called. */
export function auditIndex(name: string, expected: Iterable<unknown[]>, stored: Iterable<unknown[]>): string[] {
  const missing = new Set(Array.from(expected, (key) => JSON.stringify(key)));
  const findings: string[] = [];
  for (const key of stored) {
    if (!missing.delete(JSON.stringify(key))) findings.push(`${name}: ${JSON.stringify(key)} is of no row`);
  }
  return [...findings, ...[...missing].map((key) => `${name}: ${key} is missing`)];
}

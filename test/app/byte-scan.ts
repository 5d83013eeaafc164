/** Looks for texts in the bytes of every file of a folder, as an attacker who has the disk would. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that hold one of the texts, by path, with the texts. */
export function filesHolding(dir: string, texts: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const held = texts.filter((text) => bytes.includes(text));
    if (held.length > 0) found[path.slice(dir.length + 1)] = held;
  }
  return found;
}

/** Looks for texts in the bytes of every file of a folder, as an attacker who has the disk would. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that hold one of the texts, by path, with the texts. A file that is renamed meanwhile makes it look at all of them again. */
export function filesHolding(dir: string, texts: readonly string[]): Record<string, string[]> {
  for (let tries = 1; ; tries++) {
    try {
      return scan(dir, texts);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 20) throw error;
    }
  }
}

function scan(dir: string, texts: readonly string[]): Record<string, string[]> {
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

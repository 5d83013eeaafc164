/**
 * The separate process of `look-apart.ts`: damage in a mapped file can end it (SIGSEGV, SIGBUS). Arguments: a task and
 * the store's folder. Writes lines of JSON to standard output, each valid even if the process dies later.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Key, RootDatabase } from 'lmdb';
import { errorMessage } from '../domain/errors.ts';
import { BlacklistReader } from './blacklist.ts';
import { openReadOnlyEnvironment, openReadOnlyRoot, openRoot } from './environment.ts';
import type { LookLine, LookTask } from './look-apart.ts';

/** Time limit, ms, because a start waits for the check. A store of a million keys takes about a second. */
const maxLookMs = 3000;
const keysPerClockLook = 1024;

function say(line: LookLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * Read all keys, which touches every tree page, and compare their count with the tree's. Also read the values if the
 * file is shorter than its last page: those at the end may be missing. (An intact file can be as short: pages freed by
 * the transaction that allocated them are never written.)
 */
function prove(root: RootDatabase, path: string): void {
  const deadline = performance.now() + maxLookMs;
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number };
  const mayBeCut = (lastPageNumber + 1) * pageSize > statSync(join(path, 'data.mdb')).size;
  for (const name of [...root.getKeys()].map(String)) {
    say({ at: name });
    const database = root.openDB<Buffer, Key>({ name, keyEncoding: 'binary', encoding: 'binary' });
    const { entryCount } = database.getStats() as { entryCount: number };
    let seen = 0;
    for (const _entry of mayBeCut ? database.getRange() : database.getKeys()) {
      if (++seen > entryCount) break;
      if (!mayBeCut && seen % keysPerClockLook === 0 && performance.now() > deadline) return;
    }
    if (seen !== entryCount)
      throw new Error(`${entryCount} entries were stored, there are ${seen > entryCount ? 'more' : seen}`);
  }
}

function tellRules(path: string): void {
  for (const { kind, pattern, reason, created_at, canonicalized_by } of new BlacklistReader(
    openReadOnlyEnvironment(path),
  ).list()) {
    say({ rule: { kind, pattern, reason, created_at, canonicalized_by } });
  }
}

function run(task: LookTask, path: string): void {
  if (task === 'rules') tellRules(path);
  else if (task === 'open') openReadOnlyRoot(path);
  else prove(task === 'prove' ? openRoot(path) : openReadOnlyRoot(path), path);
}

const [task, path] = process.argv.slice(2);
try {
  run(task as LookTask, path);
  say({ done: true });
} catch (error) {
  say({ fault: errorMessage(error) });
}
// Closing would write to the file.
process.removeAllListeners('exit');

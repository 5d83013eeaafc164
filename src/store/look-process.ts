/**
 * A process of its own that looks into a store which may be damaged: LMDB maps its file, so that damage can end the process that reads it
 * (SIGSEGV, SIGBUS) instead of throwing. Run by `look-apart.ts` with what to do and the store's folder; answers in lines of JSON on
 * standard output, each of which stands even where the process dies after it.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Key, RootDatabase } from 'lmdb';
import { errorMessage } from '../domain/error-message.ts';
import { BlacklistReader } from './blacklist.ts';
import { openReadOnlyEnvironment, openReadOnlyRoot, openRoot } from './environment.ts';
import type { LookLine, LookTask } from './look-apart.ts';

/** A start waits for this look, so that it may take so long at most, ms; a store of a million keys takes about a second. */
const maxLookMs = 3000;
const keysPerClockLook = 1024;

function say(line: LookLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * Go through the keys of every database, which touches every page of its tree, and compare their number with what the tree says. Where the
 * file is shorter than it may be, through the values, too: those of the end may be missing. (A whole file can be that short: pages
 * that were given back by the transaction that took them are never written.)
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
// What was opened is not closed: closing would write to the file.
process.removeAllListeners('exit');

/**
 * A process that commits to a store whose commits count elsewhere, and closes it; says whether the store knows of a failure.
 * Arguments: the folder; and the file whose being there lets the disk fail, where the last commit is to meet that.
 */
import { rmSync, writeFileSync, writeSync } from 'node:fs';
import { Store } from '../../src/store/store.ts';
import { type CommitLog, noKeys } from '../../src/store/stored-rows.ts';

const [dir, fault] = process.argv.slice(2);
const log: CommitLog = {
  position: { library: 'library 1', epoch: 1, run: 'run 1', seq: 0, ...noKeys },
  ready: async () => {},
  append: async () => {},
};
const store = await Store.open(dir, () => 'store 1', { log });
const commit = async () => (await store.transact([({ counters }) => counters.take('label')])).flushed;
await commit();
if (fault !== undefined) writeFileSync(fault, '');
await commit().catch(() => {}); // where it is told at once
await store.close();
if (fault !== undefined) rmSync(fault);
writeSync(1, store.hasFailed ? 'failed' : 'closed');
// An orderly exit waits for all threads, also for one whose write never ends.
process.kill(process.pid, 'SIGKILL');

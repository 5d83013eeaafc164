import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgettingLogic } from '../../../src/actors/forgetting/forgetting.ts';
import { CommitFeed } from '../../../src/actors/system/commit-feed.ts';
import type { SystemAsk } from '../../../src/actors/system/system-messages.ts';
import { markDeleted } from '../../../src/commands/forget.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { NoRoomError } from '../../../src/store/replace-file.ts';
import type { Command } from '../../../src/store/store.ts';
import { submission } from '../../commands/submissions.ts';
import { until } from '../../process/service.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { Hosted } from '../hosted.ts';
import { keptLog } from '../quiet-log.ts';

test('a rewrite that finds no room is told, tried again, and only then the pages count as verified', async () => {
  await using temporary = await TemporaryStore.open();
  const url = 'https://example.com/a';
  await temporary.commit(ingestPage(submission({ canonical_url: url })));
  const feed = new CommitFeed();
  const { log, lines } = keptLog();
  let full = true;
  let rewrites = 0;
  const run = async (command: Command<unknown>) => {
    const { results, changes, opstamp, flushed } = await temporary.store.transact([command]);
    await flushed;
    feed.publish({ opstamp, ...changes });
    const [result] = results;
    if (!result.ok) throw result.error;
    return result.reply;
  };
  const answers: Record<string, (request: never) => unknown> = {
    'store.commit': ({ command }: { command: Command<unknown> }) => run(command),
    'store.compact': async () => {
      rewrites++;
      if (full) throw new NoRoomError('the disk has 5 bytes free');
      return temporary.store.compact();
    },
    'index.heldAtStart': () => ({ dropped: 0, setAside: false }),
    'index.purge': () => ({ clean: true }),
  };
  const ask = (async (name: string, request: never) => answers[name](request)) as SystemAsk;
  const hosted = new Hosted(
    forgettingLogic({
      ask,
      reader: temporary.store.reader,
      feed,
      canonicalize: { tracking_params: [], keep_params: {} },
      maxAttempts: 3,
      compactAfterMs: 20,
      log,
      now: () => 5,
      monotonic: () => performance.now(),
    }),
  );
  const forgotten = await hosted.ask('page.forget', { url });
  assert.deepEqual([forgotten.pages_purged, forgotten.vector_deletes_queued], [1, 1]);
  const { tombstones } = temporary.store.reader;
  assert.deepEqual(tombstones.countByState(), { pending: 1, deleted: 0, verified: 0 });
  const jobNo = tombstones.get(1)?.job_no ?? 0;
  await run((transaction) => markDeleted(transaction, jobNo));
  await until(() => rewrites >= 3, 'it was tried again');
  assert.deepEqual(tombstones.countByState(), { pending: 0, deleted: 1, verified: 0 });
  const told = lines.filter(({ msg }) => String(msg).includes('could not be rewritten'));
  assert.ok(told.length >= 2 && JSON.stringify(told[0]).includes('5 bytes free'));
  full = false;
  await until(() => tombstones.countByState().verified === 1, 'it is verified');
  const done = rewrites;
  hosted.send({ type: 'stop' });
  await hosted.told('stopped.forgetting');
  assert.equal(rewrites, done, 'one rewrite was enough');
});

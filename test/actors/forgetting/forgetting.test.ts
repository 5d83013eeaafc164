import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgettingService } from '../../../src/actors/forgetting/forgetting.ts';
import { progressMs } from '../../../src/actors/system/background.ts';
import { CommitFeed, commitThrough, type SystemAsk } from '../../../src/actors/system/service.ts';
import { beginForget, markDeleted } from '../../../src/commands/forget.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { addressesKey, allReaddressed } from '../../../src/commands/readdress-pages.ts';
import type { CanonicalizeSettings } from '../../../src/compute/web/canonical-url.ts';
import { domainMatches } from '../../../src/compute/web/domain-match.ts';
import { OperatorError } from '../../../src/domain/errors.ts';
import { storeUnavailable } from '../../../src/store/commit.ts';
import type { Command } from '../../../src/store/store.ts';
import { submission } from '../../commands/submissions.ts';
import { deferred } from '../../deferred.ts';
import { until } from '../../process/service.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { Hosted } from '../hosted.ts';
import { keptLog } from '../quiet-log.ts';

const url = 'https://example.com/a';

/** Forgetting on a real store, with an index that has nothing; `replies` stand in for those of the other parts. */
function forgettingOn(
  temporary: TemporaryStore,
  replies: Record<string, (request: never) => unknown> = {},
  canonicalize: CanonicalizeSettings = { tracking_params: [], keep_params: {} },
) {
  const feed = new CommitFeed();
  const { log, lines } = keptLog();
  const run = async (command: Command<unknown>) => {
    const { results, steps, flushed } = await temporary.store.transact([command]);
    await flushed;
    for (const { opstamp, changes } of steps) feed.publish('durable', { opstamp, ...changes });
    const [result] = results;
    if (!result.ok) throw result.error;
    return result.reply;
  };
  const answers: Record<string, (request: never) => unknown> = {
    'store.commit': ({ command }: { command: Command<unknown> }) => run(command),
    'index.recoveryReport': () => ({ dropped: 0, setAside: false }),
    'index.purge': () => ({ clean: true }),
    'index.pagesUnder': ({ domain }: { domain: string }) =>
      [...temporary.reader.pages.all()].filter((page) => page.domain === domain).map(({ no }) => no),
    ...replies,
  };
  const ask = (async (name: string, request: never) => answers[name](request)) as SystemAsk;
  const hosted = new Hosted(
    forgettingService({
      ask,
      commit: commitThrough(ask),
      reader: temporary.reader,
      feed,
      canonicalize,
      maxAttempts: 3,
      compactAfterMs: 20,
      log,
      now: () => 5,
      monotonic: () => performance.now(),
    }),
  );
  return { hosted, lines, run };
}

/** A store whose process ended when the rule was there and nothing erased. */
async function interrupted(): Promise<TemporaryStore> {
  const temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ canonical_url: url })));
  await temporary.commit(beginForget({ kind: 'domain', pattern: 'example.com', reason: null, at: 5 }));
  return temporary;
}

test('a rewrite that finds no room is told, tried again, and only then the pages count as verified', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(ingestPage(submission({ canonical_url: url })));
  let full = true;
  let rewrites = 0;
  const { hosted, lines, run } = forgettingOn(temporary, {
    'store.compact': async () => {
      rewrites++;
      if (full) throw new OperatorError('no_room', 'the disk has 5 bytes free');
      return temporary.store.compact();
    },
  });
  const forgotten = await hosted.ask('page.forget', { url });
  assert.deepEqual([forgotten.pages_purged, forgotten.vector_deletes_queued], [1, 1]);
  const { tombstones } = temporary.reader;
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
  await hosted.stop();
  assert.equal(rewrites, done, 'one rewrite was enough');
});

test('before the service starts an interrupted purge is done: what fails is told and tried again', async () => {
  await using temporary = await interrupted();
  let full = true;
  let tries = 0;
  const { hosted, lines } = forgettingOn(temporary, {
    'index.pagesUnder': () => {
      tries++;
      if (full) throw new OperatorError('no_room', 'the disk has 5 bytes free');
      return [1];
    },
  });
  await until(() => tries >= 2, 'it was tried again');
  assert.deepEqual(hosted.events, [], 'it is not ready');
  const told = lines.filter(({ msg }) => msg.includes('before the service starts'));
  assert.ok(told.length >= 1 && JSON.stringify(told[0]).includes('5 bytes free'));
  full = false;
  await hosted.told('ready');
  const { blacklist, pages } = temporary.reader;
  assert.deepEqual([blacklist.purging(), pages.count()], [[], 0]);
  await hosted.stop();
});

test('what else an earlier process left is tried again beside the service', async () => {
  await using temporary = await TemporaryStore.open();
  let asked = 0;
  const { hosted, lines } = forgettingOn(temporary, {
    'index.recoveryReport': () => {
      asked++;
      if (asked < 3) throw new Error('the index restarts');
      return { dropped: 0, setAside: false };
    },
  });
  await hosted.told('ready');
  await until(() => asked === 3, 'it was tried again');
  assert.equal(lines.filter(({ msg }) => msg.includes('trying again')).length, 2);
  await hosted.stop();
});

test('a start that fails again and again is over with its stop, and does nothing after it', async () => {
  await using temporary = await interrupted();
  let tries = 0;
  let takenUp = 0;
  const { hosted } = forgettingOn(temporary, {
    'index.pagesUnder': () => {
      tries++;
      throw new Error('the index restarts');
    },
    'index.recoveryReport': () => {
      takenUp++;
    },
  });
  await until(() => tries === 1, 'it was tried');
  await hosted.stop();
  hosted.start(); // the next life starts when the first is gone
  await until(() => tries === 2, 'the next life tries');
  await hosted.stop();
  assert.equal(tries, 2, 'the first life tried no more');
  assert.deepEqual([temporary.reader.blacklist.purging().length, takenUp], [1, 0]);
});

test('a long start says how many pages are left', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  await using temporary = await interrupted();
  const gate = deferred();
  let isHeld = false;
  const { hosted, lines, run } = forgettingOn(temporary, {
    'index.pagesUnder': () => [1, 2, 3],
    'store.commit': async ({ command }: { command: Command<unknown> }) => {
      isHeld = true;
      await gate.promise;
      return run(command);
    },
  });
  await until(() => isHeld, 'the first slice is under way');
  t.mock.timers.tick(progressMs);
  const told = () => lines.filter(({ msg }) => msg === 'continuing an interrupted forget');
  const [{ rules_left, pages_left }, ...others] = told();
  assert.deepEqual([rules_left, pages_left, others], [1, 3, []]);
  gate.resolve();
  await hosted.told('ready');
  t.mock.timers.tick(progressMs);
  assert.equal(told().length, 1);
  await hosted.stop();
});

test('an address out of an import whose removal was refused and carried out all the same is rewritten out of the files', async () => {
  await using temporary = await TemporaryStore.open();
  await temporary.commit(({ imports }) => imports.putFailure('i1', { place: 0, url, reason: 'too large' }));
  const failures = () => temporary.reader.imports.failures('i1').length;
  let rewrites = 0;
  const { hosted, run } = forgettingOn(temporary, {
    'store.commit': async ({ command }: { command: Command<unknown> }) => {
      const before = failures();
      const reply = await run(command);
      if (failures() < before) throw storeUnavailable(new Error('the disk has not answered'));
      return reply;
    },
    'store.compact': () => {
      rewrites++;
      return temporary.store.compact();
    },
  });
  await hosted.told('ready');
  await assert.rejects(hosted.ask('page.forget', { url }), /the store cannot be written/);
  assert.equal(failures(), 0);
  await until(() => rewrites === 1, 'the files are rewritten');
  await hosted.stop();
});

test('an address is forgotten with the pages that were stored when the settings made other canonical URLs of it', async () => {
  await using temporary = await TemporaryStore.open();
  const at = 'https://example.com';
  for (const [canonical_url, original_url = canonical_url] of [
    [`${at}/a?ref=1`], // `ref` was kept then
    [`${at}/a?ref=2`, `${at}/a?ref=2#top`],
    [`${at}/a`],
    [`${at}/a?id=1`],
    [`${at}/a/b?ref=1`, `${at}/a`], // taken in with an export
    [`${at}/a?ref=1#!/x`],
    ['http://example.com/a?ref=1'],
    [`${at}/c`, `${at}/c?id=1`], // `id` was dropped then
    [`${at}/d?ref=1#!/x?y=1`],
    [`${at}/d?ref=1#!/x?y=2`],
  ])
    await temporary.commit(ingestPage(submission({ canonical_url, original_url })));
  const canonicalize = { tracking_params: ['ref'], keep_params: {} };
  const done = { settings: addressesKey(canonicalize), after: allReaddressed };
  await temporary.commit((transaction) => transaction.pages.noteAddressesDone(done));
  const { hosted } = forgettingOn(temporary, {}, canonicalize);
  const left = () => [...temporary.reader.pages.all()].map(({ no }) => no);

  const other = await hosted.ask('page.forget', { url: 'https://example.com/c?id=2' });
  assert.deepEqual([other.pages_purged, left()], [0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]);
  const asSent = await hosted.ask('page.forget', { url: 'https://example.com/c?ref=9&id=1' });
  assert.deepEqual([asSent.pattern, asSent.pages_purged], ['https://example.com/c?id=1', 1]);
  const older = await hosted.ask('page.forget', { url: 'https://example.com/a?ref=3' });
  assert.deepEqual([older.pattern, older.pages_purged], ['https://example.com/a', 3]);
  const routed = await hosted.ask('page.forget', { url: 'https://example.com/d#!/x?y=1' });
  assert.equal(routed.pages_purged, 1, 'a question mark in the fragment begins no query');
  assert.deepEqual(left(), [4, 5, 6, 7, 10]);
  await hosted.stop();
});

test('a page is forgotten by each of its addresses, also before it got the current one', async () => {
  const [shared, video] = ['https://youtu.be/dQw4w9WgXcQ', 'https://www.youtube.com/watch?v=dQw4w9WgXcQ'];
  const canonicalize = { tracking_params: [], keep_params: {}, known_addresses: true };
  const earlier = { original_url: shared, canonical_url: shared, domain: 'youtu.be' };
  const current = { original_url: shared, canonical_url: video, domain: 'www.youtube.com' };
  const other = { original_url: url, canonical_url: url };
  for (const [page, target] of [
    [earlier, { url: video }],
    [earlier, { url: shared }],
    [earlier, { domain: 'youtu.be' }],
    [current, { url: `${shared}?list=PL1` }],
    [current, { domain: 'youtu.be' }],
    [current, { domain: 'youtube.com' }],
  ] as const) {
    await using temporary = await TemporaryStore.open();
    for (const each of [page, other]) await temporary.commit(ingestPage(submission(each)));
    const done = { settings: addressesKey(canonicalize), after: allReaddressed };
    await temporary.commit((transaction) => transaction.pages.noteAddressesDone(done));
    const pagesUnder = ({ domain }: { domain: string }) =>
      [...temporary.reader.pages.all()].filter((each) => domainMatches(each.domain, domain)).map(({ no }) => no);
    const { hosted } = forgettingOn(temporary, { 'index.pagesUnder': pagesUnder }, canonicalize);
    const { pages_purged } = await hosted.ask('page.forget', target);
    assert.deepEqual([pages_purged, temporary.reader.pages.has(1)], [1, false], JSON.stringify(target));
    await hosted.stop();
  }
});

test('a rule that does not say what made its form counts as made by the settings that it is first met with', async () => {
  await using temporary = await TemporaryStore.open();
  const rule = { no: 1, kind: 'url', pattern: url, reason: null, created_at: 1, purging: false } as const;
  await temporary.commit(({ blacklist }) => blacklist.put(rule));
  const settings = { tracking_params: ['ref'], keep_params: {} };
  const { hosted } = forgettingOn(temporary, {}, settings);
  const { blacklist } = temporary.reader;
  await until(() => blacklist.withoutSettings().length === 0, 'the rule has settings');
  assert.deepEqual(blacklist.get(1), { ...rule, canonicalized_by: [settings] });
  const original_url = `${url}?ref=1`;
  const unlike = { canonical_url: original_url, domain: 'example.com' };
  assert.equal(blacklist.match({ ...unlike, original_url })?.no, 1);
  assert.equal(blacklist.match({ ...unlike, original_url: `${url}?other=1` }), undefined);
  await hosted.stop();
});

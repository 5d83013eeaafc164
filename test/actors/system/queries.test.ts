import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queriesService } from '../../../src/actors/system/queries.ts';
import { ingestPage } from '../../../src/commands/ingest-page.ts';
import { installModel } from '../../../src/commands/manage-models.ts';
import { completeJob, createJob, failJob } from '../../../src/commands/move-job.ts';
import { DomainError, type ErrorCode } from '../../../src/domain/errors.ts';
import type { IndexState } from '../../../src/domain/messages.ts';
import { TextInParts } from '../../../src/domain/rows.ts';
import { idOf } from '../../../src/domain/values.ts';
import type { Command } from '../../../src/store/store.ts';
import { submission } from '../../commands/submissions.ts';
import { chunkRow } from '../../machines/rows.ts';
import { until } from '../../process/service.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { Hosted } from '../hosted.ts';
import { keptLog } from '../quiet-log.ts';

const page = (no: number) => idOf('page', no);
const job = (no: number) => idOf('job', no);

/** Pages 1 (indexed), 2 (dead), 3 (queued), each with the job of its number. */
async function startRecords(t: TestContext) {
  const temporary = await TemporaryStore.open();
  t.after(() => temporary[Symbol.asyncDispose]());
  for (const path of ['a', 'b']) {
    await temporary.commit(ingestPage(submission({ canonical_url: `https://example.com/${path}`, at: 100 })));
  }
  await temporary.claim(200);
  const chunks = [chunkRow(0, 4), chunkRow(5, 9, { section_title: 'Two', section_start_s: 1.5 })];
  await temporary.commit(
    completeJob({ job_no: 1, claim: 1 }, 300, (transaction) => {
      const indexed = transaction.pages.get(1);
      if (indexed !== undefined) transaction.pages.put({ ...indexed, first_label: 40, chunk_count: 2 }, indexed);
      transaction.pages.putChunks(1, chunks);
    }),
  );
  await temporary.commit(failJob({ job_no: 2, claim: 2 }, 400, { message: 'bad', permanent: true, delayMs: 0 }));
  await temporary.commit(
    ingestPage(submission({ canonical_url: 'https://example.com/c', at: 500, body: null, content_hash: null })),
  );
  const { log, lines } = keptLog();
  /** Writes of the service that are done. */
  const writes = { count: 0 };
  const commit = async <Reply>(command: Command<Reply>): Promise<Reply> => {
    const reply = await temporary.commit(command);
    writes.count++;
    return reply;
  };
  const disk = { trouble: null as string | null };
  const index = { state: async () => whole };
  const clock = { now: 1000 };
  const days: (() => void)[] = [];
  const every = (_ms: number, run: () => void) => {
    days.push(run);
    return () => {};
  };
  const now = () => clock.now;
  const hosted = new Hosted(
    queriesService({
      reader: temporary.reader,
      commit,
      writeTrouble: async () => disk.trouble,
      indexState: () => index.state(),
      canonicalize: { tracking_params: [], keep_params: {} },
      oldBefore: async () => now() - 90 * 86_400_000,
      ...{ log, now, every, maxAttempts: 3 },
    }),
  );
  return { temporary, hosted, lines, disk, index, clock, days, writes };
}

const whole: IndexState = { state: 'whole', indexed_chunks: 0, total_chunks: 0 };

const refused = (code: ErrorCode, message: string) => ({ code, message });

test('a text and a part of it are told with the length of the whole', async (t) => {
  const { hosted } = await startRecords(t);
  const partOf = async (no: number, part: { offset?: number; length?: number }) => {
    const { body_text, body_length } = await hosted.ask('page.text', { page_id: page(no), ...part });
    return [body_text, body_length];
  };
  assert.deepEqual(await partOf(1, { offset: 5, length: 3 }), ['tex', 9]);
  assert.deepEqual(await partOf(1, { length: 4 }), ['some', 9]);
  assert.deepEqual(await partOf(1, { offset: 5 }), ['text', 9]);
  assert.deepEqual(await partOf(1, { offset: 9, length: 1 }), ['', 9]);
  assert.deepEqual(await partOf(1, {}), ['some text', 9]);
  assert.deepEqual(await partOf(3, { offset: 5, length: 3 }), [null, undefined]);
});

test('a long part is read as it is taken, and is what the text has there', async (t) => {
  const { temporary, hosted } = await startRecords(t);
  const body = 'a\u{1f600}b'.repeat(60_000);
  await temporary.commit(ingestPage(submission({ canonical_url: 'https://example.com/long', body })));
  for (const [offset, length] of [
    [0, body.length],
    [1, 100_000],
    [2, 100_000],
    [3, 140_001],
    [100_001, body.length],
  ]) {
    const { body_text, body_length } = await hosted.ask('page.text', { page_id: page(4), offset, length });
    assert.equal(body_length, body.length);
    assert.ok(body_text instanceof TextInParts, `${offset} ${length}`);
    let read = '';
    for await (const part of body_text.parts) {
      assert.ok(part.isWellFormed() && part.length <= 64 * 1024 + 1);
      read += part;
    }
    // A character of two units is in the part that it begins in.
    const isSecondHalf = (at: number) => /[\udc00-\udfff]/.test(body.charAt(at));
    const [from, to] = [offset, Math.min(offset + length, body.length)].map((at) => at + (isSecondHalf(at) ? 1 : 0));
    assert.equal(read, body.slice(from, to));
  }
});

test('parts of a text never have half a character, and are the whole text together', async (t) => {
  const { temporary, hosted } = await startRecords(t);
  const body = 'a\u{1f600}\u{1f600}bc\u{1f600}';
  await temporary.commit(ingestPage(submission({ canonical_url: 'https://example.com/emoji', body })));
  for (const length of [1, 2, 3, 7]) {
    const parts: string[] = [];
    for (let offset = 0; offset < body.length; offset += length) {
      const { body_text } = await hosted.ask('page.text', { page_id: page(4), offset, length });
      assert.ok(typeof body_text === 'string');
      parts.push(body_text);
    }
    assert.ok(
      parts.every((part) => part.isWellFormed()),
      parts.join('|'),
    );
    assert.equal(parts.join(''), body);
  }
});

test('a page that is forgotten while its text or its chunks are read is not found', async (t) => {
  const { temporary, hosted } = await startRecords(t);
  const body = 'long text '.repeat(20_000);
  await temporary.commit(ingestPage(submission({ canonical_url: 'https://example.com/long', body })));
  const ask = async () => {
    const { body_text: text } = await hosted.ask('page.text', { page_id: page(4) });
    return text instanceof TextInParts ? text.parts : assert.fail('in parts');
  };
  let whole = '';
  for await (const part of await ask()) whole += part;
  assert.equal(whole, body);
  const [untouched, begun] = [(await ask())[Symbol.asyncIterator](), (await ask())[Symbol.asyncIterator]()];
  await begun.next();
  const chunks = (await hosted.ask('page.chunks', { page_id: page(4) })).chunks[Symbol.asyncIterator]();
  await temporary.commit(({ pages }) => {
    const row = pages.get(4);
    if (row !== undefined) pages.remove(row);
  });
  for (const parts of [untouched, begun, chunks]) {
    await assert.rejects(() => parts.next(), refused('not_found', `unknown page id: ${page(4)}`));
  }
});

test('rows are read without their metadata where no answer has it', async (t) => {
  const { temporary, hosted } = await startRecords(t);
  const metadata = { tags: ['engines'] };
  await temporary.commit(ingestPage(submission({ canonical_url: 'https://example.com/d', metadata })));
  const parse = t.mock.method(JSON, 'parse');
  await hosted.ask('page.statusBatch', { page_ids: [1, 2, 3, 4].map(page) });
  await hosted.ask('page.status', { page_id: page(4) });
  await hosted.ask('page.chunks', { page_id: page(4) });
  await hosted.ask('page.text', { page_id: page(4) });
  assert.equal(parse.mock.callCount(), 0);
});

test('a bulk retry goes on before a job, and refuses what is no id of one', async (t) => {
  const { hosted } = await startRecords(t);
  const retryBefore = (before: string) =>
    hosted.ask('job.retryBatch', { status: 'dead', job_ids: null, before, limit: 100 });
  assert.equal((await retryBefore(job(2))).requested, 0);
  await assert.rejects(() => retryBefore('pg_2'), refused('invalid', 'before: must be the id of a job'));
  assert.equal((await retryBefore(job(3))).retried, 1);
});

test('readiness: the store is readable, whether it takes writes, and which model is active', async (t) => {
  const { temporary, hosted, lines, disk } = await startRecords(t);
  const ready = { store: true, trouble: null, activeModel: null, index: whole };
  assert.deepEqual(await hosted.ask('system.readiness', {}), ready);
  const model = { id: 'm', provider: 'local', model_name: 'x', dim: 2, max_input_tokens: 9, floor: null };
  await temporary.commit(installModel(model, { at: 0, max_attempts: 1 }));
  disk.trouble = 'No space left on device';
  const readiness = { ...ready, trouble: disk.trouble, activeModel: 'm' };
  assert.deepEqual(await hosted.ask('system.readiness', {}), readiness);
  assert.deepEqual(lines, []);
});

for (const [fault, state] of Object.entries({
  'is not running': () => Promise.reject(new DomainError('store_unavailable', 'indexes is not running')),
  'is still being opened': () => new Promise<never>(() => {}),
})) {
  test(`an index that ${fault} is told as one that is built again; the store is there all the same`, async (t) => {
    const { hosted, index } = await startRecords(t);
    index.state = state;
    const readiness = await hosted.ask('system.readiness', {});
    assert.deepEqual(readiness.index, { state: 'rebuilding', indexed_chunks: 0, total_chunks: 0 });
    assert.equal(readiness.store, true);
  });
}

test('done jobs are deleted when they are older than the setting says, once a day', async (t) => {
  const { temporary, hosted, clock, days, writes } = await startRecords(t);
  await hosted.ask('job.list', { limit: 10 }); // it runs
  await temporary.commit((transaction) =>
    createJob(transaction, { kind: 'cluster', page_no: null, max_attempts: 3, at: 500 }),
  );
  const begun = await temporary.claim(600);
  const cluster = begun.find(({ job }) => job.kind === 'cluster') ?? assert.fail();
  await temporary.commit(completeJob(cluster.attempt, 700));
  const left = () => temporary.reader.jobs.list({ kind: 'cluster', limit: 10 }).length;
  assert.equal(days.length, 1);
  await until(() => writes.count === 1, 'it has looked at its start');
  clock.now = 89 * 86_400_000;
  const earlier = writes.count;
  days[0]();
  await until(() => writes.count > earlier, 'it has looked for old jobs');
  assert.equal(left(), 1);
  clock.now = 91 * 86_400_000;
  days[0]();
  await until(async () => left() === 0, 'the job is gone');
});

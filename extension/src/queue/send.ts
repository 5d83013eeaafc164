/**
 * Sends queued items until none wait or a problem occurs. May be stopped at any moment: every step leaves rows from which the next run
 * continues. Each item has its visit's time (`once`), so repeats count once. The caller ensures one run at a time.
 */
import type { IngestBatchResult } from '../../../src/domain/page.ts';
import type { IngestItem, Problem, ServiceClient } from '../service/client.ts';
import { backoffMs } from './backoff.ts';
import { type Database, getMeta, noSendState, type QueuedItem, type SendState } from './database.ts';
import { type BatchItem, type Fate, nextBatch, noteFailure, settle } from './queue.ts';

export interface SendDependencies {
  database: Database;
  /** The client of the connected service, or null. */
  client: () => Promise<Pick<ServiceClient, 'ingest'> | null>;
  now: () => number;
  /** 0 to 1. */
  random: () => number;
  /** Whether to send imported items. */
  imports: () => Promise<boolean>;
  /** Runs `work`, a whole batch, under the lock of sending. */
  undisturbed: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** The dependencies within a batch. */
interface Sending extends Pick<SendDependencies, 'database' | 'now'> {
  client: Pick<ServiceClient, 'ingest'>;
}

const source = 'extension';

function ingestItemOf({ item, html }: BatchItem): IngestItem {
  const { url, title, visitedAt, metadata } = item;
  return {
    url,
    title: title === '' ? null : title,
    ...(html !== null && { body_html: html }),
    fetched_at: new Date(visitedAt).toISOString(),
    once: true,
    source,
    metadata,
  };
}

/** Problem kinds for the user. */
export const problemKindOf: Record<Problem['problem'], NonNullable<SendState['problem']>['kind']> = {
  unreachable: 'unreachable',
  busy: 'busy',
  failing: 'failing',
  full: 'full',
  unauthorized: 'unauthorized',
  forbidden: 'forbidden',
  rate_limited: 'busy',
  not_found: 'failing',
  too_large: 'failing',
  invalid: 'failing',
};

/** After this number of failures in a row, pages are sent one by one, to find a faulty one. */
const failuresOfAll = 2;
/** Max pages of a run that are sent one by one: a batch. */
const maxOneByOne = 20;

/** Run until the queue is empty (null), or return the problem and the next try. */
export async function sendQueue(dependencies: SendDependencies): Promise<SendState | null> {
  const { database, client, now, random, imports, undisturbed } = dependencies;
  const state = (await getMeta(database, 'send')) ?? noSendState;
  // A future time was recorded before the clock was set back.
  if (now() >= state.notedAt && now() < state.notBefore) return state;
  let oneByOne = state.failures >= failuresOfAll ? maxOneByOne : 0;
  const firstAndAny = ([first, ...others]: QueuedItem[]): QueuedItem[] => {
    // Chosen at random, because the next one may be faulty, too.
    const at = Math.min(others.length - 1, Math.floor(random() * others.length));
    return [first, ...others.splice(at, 1)];
  };
  for (;;) {
    const alone = oneByOne-- > 0;
    const outcome = await undisturbed(async () => {
      const by = await client();
      const batch = await nextBatch(database, { imports: await imports() }, alone ? firstAndAny : undefined);
      if (by === null || batch.length === 0) return 'nothing waits';
      const sending = { database, now, client: by };
      const problem = alone ? await sendFirst(sending, batch) : await sendBatch(sending, batch);
      return problem === null ? 'sent' : fail(dependencies, problem);
    });
    if (outcome === 'nothing waits') return null;
    if (outcome !== 'sent') return outcome;
  }
}

/** Sends the first page alone. If the service fails on it twice, but accepts the other in between, it is refused. */
async function sendFirst(sending: Sending, [first, other]: BatchItem[]): Promise<Problem | null> {
  const { database } = sending;
  const problem = await sendBatch(sending, [first]);
  if (!isFault(problem) || other === undefined) return problem;
  const answer = await sendBatch(sending, [other]);
  if (answer !== null) return answer;
  if (!(await isStored(database, other))) return problem;
  const again = await sendBatch(sending, [first]);
  if (!isFault(again)) return again;
  await refuse(sending, first, `the service accepts other pages, but not this one: ${again.detail}`);
  return null;
}

/** Whether the service stored a page; refused and blocked ones prove nothing. */
async function isStored(database: Database, { item }: BatchItem): Promise<boolean> {
  const entry = (await database.getAllFromIndex('log', 'url', item.url)).at(-1);
  return entry?.visitedAt === item.visitedAt && entry.outcome !== 'blacklisted';
}

/** Whether a page may cause the problem: the service fails or ends. */
const isFault = (problem: Problem | null): problem is Problem =>
  problem?.problem === 'failing' || problem?.problem === 'unreachable';

async function sendBatch(sending: Sending, batch: BatchItem[]): Promise<Problem | null> {
  const { client } = sending;
  const answer = await client.ingest(batch.map(ingestItemOf));
  if (answer.problem === null) return settleResults(sending, batch, answer.body.results);
  if (answer.problem !== 'too_large' && answer.problem !== 'invalid') return answer;
  if (batch.length > 1) {
    // One of them is faulty; find it by halving the batch.
    const half = batch.length >> 1;
    return (await sendBatch(sending, batch.slice(0, half))) ?? (await sendBatch(sending, batch.slice(half)));
  }
  await refuse(sending, batch[0], answer.detail);
  return null;
}

const refuse = ({ database, now }: Sending, { item }: BatchItem, reason: string): Promise<void> =>
  settle(database, [{ id: item.id, fate: { to: 'refused', reason } }], now());

async function settleResults(
  sending: Sending,
  batch: BatchItem[],
  results: IngestBatchResult[],
): Promise<Problem | null> {
  const { database, now } = sending;
  if (!Array.isArray(results) || results.length !== batch.length)
    return { problem: 'failing', detail: 'the answer lacks results for some pages', retryAfterMs: null };
  const fates = batch.map(({ item }, at) => ({ id: item.id, fate: fateOf(results[at]) }));
  await settle(database, fates, now());
  return null;
}

function fateOf(result: IngestBatchResult): Fate {
  return result.outcome === 'rejected'
    ? { to: 'refused', reason: result.detail }
    : { to: 'gone', outcome: result.outcome };
}

/** All pages wait for the next try; repeated pages count once. */
function fail({ database, now, random }: SendDependencies, problem: Problem): Promise<SendState> {
  const asked = 'retryAfterMs' in problem ? problem.retryAfterMs : null;
  return noteFailure(
    database,
    { kind: problemKindOf[problem.problem], detail: problem.detail },
    (failures) => backoffMs(failures, asked, random()),
    now(),
  );
}

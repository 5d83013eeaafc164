/**
 * Sends what is queued until nothing waits or something is in the way. May be ended at any moment: every step leaves rows from which
 * the next run goes on (docs/extension.md, invariant 2). One run at a time: the caller sees to that.
 */
import type { IngestBatchResult } from '../../../src/domain/page.ts';
import type { IngestItem, Problem, ServiceClient } from '../service/client.ts';
import { backoffMs } from './backoff.ts';
import { type Database, getMeta, noSendState, type QueuedItem, type SendState } from './database.ts';
import { type BatchItem, type Fate, nextBatch, noteFailure, settle } from './queue.ts';

export interface SendDependencies {
  database: Database;
  /** To the service that is connected now; null where none is. */
  client: () => Promise<Pick<ServiceClient, 'ingest'> | null>;
  now: () => number;
  /** 0 to 1. */
  random: () => number;
  /** Whether what is imported is sent, too. */
  imports: () => Promise<boolean>;
  /** Runs `work`, a batch from the reading of its items to what became of them, while nobody takes items out or connects another service. */
  undisturbed: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Within a batch. */
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

/** What people are told of a problem. */
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

/** After so many failures in a row pages are sent one by one: one of them may be at fault. */
const failuresOfAll = 2;
/** Pages of a run that are sent one by one, at most: a batch. */
const mostOneByOne = 20;

/** Run until the queue is empty (null), or to the state that says why not and until when. */
export async function sendQueue(dependencies: SendDependencies): Promise<SendState | null> {
  const { database, client, now, random, imports, undisturbed } = dependencies;
  const state = (await getMeta(database, 'send')) ?? noSendState;
  // What was noted later than now was noted by a clock that was set back since.
  if (now() >= state.notedAt && now() < state.notBefore) return state;
  let oneByOne = state.failures >= failuresOfAll ? mostOneByOne : 0;
  const firstAndAny = ([first, ...others]: QueuedItem[]): QueuedItem[] => {
    // Any: the next one may be at fault, too.
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

/** Send the first page alone. Where the service fails or breaks off, takes the other, and fails again, the first page is set aside. */
async function sendFirst(sending: Sending, [first, other]: BatchItem[]): Promise<Problem | null> {
  const { database } = sending;
  const problem = await sendBatch(sending, [first]);
  if (!isFault(problem) || other === undefined) return problem;
  const answer = await sendBatch(sending, [other]);
  if (answer !== null) return answer;
  if (!(await isStored(database, other))) return problem;
  const again = await sendBatch(sending, [first]);
  if (!isFault(again)) return again;
  await refuse(sending, first, `the service takes other pages, and not this one: ${again.detail}`);
  return null;
}

/** Whether the service has stored a page: one that is refused, or on the blacklist, says nothing of others. */
async function isStored(database: Database, { item }: BatchItem): Promise<boolean> {
  const entry = (await database.getAllFromIndex('log', 'url', item.url)).at(-1);
  return entry?.visitedAt === item.visitedAt && entry.outcome !== 'blacklisted';
}

/** Whether a page may be the reason: the service fails on it, or ends. */
const isFault = (problem: Problem | null): problem is Problem =>
  problem?.problem === 'failing' || problem?.problem === 'unreachable';

async function sendBatch(sending: Sending, batch: BatchItem[]): Promise<Problem | null> {
  const { client } = sending;
  const answer = await client.ingest(batch.map(ingestItemOf));
  if (answer.problem === null) return settleResults(sending, batch, answer.body.results);
  if (answer.problem !== 'too_large' && answer.problem !== 'invalid') return answer;
  if (batch.length > 1) {
    // One of them is at fault; the others are not to suffer.
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
    return { problem: 'failing', detail: 'the answer has not a result for each page', retryAfterMs: null };
  const fates = batch.map(({ item }, at) => ({ id: item.id, fate: fateOf(results[at]) }));
  await settle(database, fates, now());
  return null;
}

function fateOf(result: IngestBatchResult): Fate {
  return result.outcome === 'rejected'
    ? { to: 'refused', reason: result.detail }
    : { to: 'gone', outcome: result.outcome };
}

/** Everything waits on: what of it the service took in all the same counts once when it comes again. */
function fail({ database, now, random }: SendDependencies, problem: Problem): Promise<SendState> {
  const asked = 'retryAfterMs' in problem ? problem.retryAfterMs : null;
  return noteFailure(
    database,
    { kind: problemKindOf[problem.problem], detail: problem.detail },
    (failures) => backoffMs(failures, asked, random()),
    now(),
  );
}

/**
 * Imports through a running service: batches of a hundred, and after each answer the checkpoint in a file of its own. A process that is
 * killed between an answer and its checkpoint sends that one batch again: every page is there once all the same, its visits may be
 * counted twice. `ID.json` is the checkpoint; `ID.failures.jsonl` is only ever added to: what failed, and what does so no more. Of it as
 * many bytes count as the checkpoint says, so that both change together, at the writing of the checkpoint.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterBatch, type ItemOutcome, type PlacedItem } from '../compute/import-progress.ts';
import type { FailedItem, ImportCheckpoint } from '../domain/import.ts';
import type { IngestBatchResult } from '../domain/page.ts';
import { replaceText } from '../files/durable-file.ts';
import { type ImportTarget, submissionOf } from '../importers/run-import.ts';
import { CliError } from './cli-error.ts';
import type { Context } from './context.ts';
import { type ServiceClient, ServiceError, UnreachableError } from './service-client.ts';

interface Saved {
  checkpoint: ImportCheckpoint;
  failureBytes: number;
}

/** A line about what failed: the latest one of a place counts. */
type FailureLine = FailedItem | { place: number; mended: true };

/** Contract: items of one batch. */
const itemsPerRequest = 100;
/** A service that restarts, or whose queue is full, is waited for so often, the longest wait being ten seconds. */
const maxTries = 8;
const maxWaitMs = 10_000;

export interface HttpTarget extends ImportTarget {
  /** Items that were sent again because the answer was lost: their visits may be counted twice. */
  repeated(): number;
}

export function httpTarget(
  { stateDir, library, now, signal }: Context,
  client: ServiceClient,
  label: string,
): HttpTarget {
  const dir = join(stateDir, 'imports', library ?? '');
  const statePath = (id: string) => join(dir, `${id}.json`);
  const failuresPath = (id: string) => join(dir, `${id}.failures.jsonl`);
  let repeatedItems = 0;

  const saved = (id: string): Saved | undefined =>
    existsSync(statePath(id)) ? (JSON.parse(readFileSync(statePath(id), 'utf8')) as Saved) : undefined;
  const failures = (id: string): FailedItem[] => {
    const bytes = saved(id)?.failureBytes ?? 0;
    if (bytes === 0) return [];
    const text = readFileSync(failuresPath(id)).toString('utf8', 0, bytes);
    const byPlace = new Map<number, FailedItem>();
    for (const line of text.split('\n').filter(Boolean)) {
      const told = JSON.parse(line) as FailureLine;
      if ('mended' in told) byPlace.delete(told.place);
      else byPlace.set(told.place, told);
    }
    return [...byPlace.values()];
  };

  const send = async (items: readonly PlacedItem[]): Promise<ItemOutcome[]> => {
    if (items.length === 0) return [];
    const pages = items.map(({ item }) => submissionOf(item, label));
    let isRepeated = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const { results } = await client.call<{ results: IngestBatchResult[] }>(
          'POST',
          '/v1/pages/batch',
          { pages },
          signal,
        );
        return results.map((result) =>
          result.outcome === 'rejected' ? { outcome: 'failed', reason: result.detail } : { outcome: result.outcome },
        );
      } catch (error) {
        if (error instanceof ServiceError && error.status === 413) return sendParts(items, error);
        const waitMs = waitAfter(error, attempt);
        if (waitMs === null) throw stopped(error);
        if (error instanceof UnreachableError && !isRepeated) {
          isRepeated = true;
          repeatedItems += pages.length;
        }
        await delay(waitMs, undefined, { signal });
      }
    }
  };

  /** Items whose bodies are too large for one request are sent in halves; one that is so alone has failed. */
  const sendParts = async (items: readonly PlacedItem[], tooLarge: ServiceError): Promise<ItemOutcome[]> => {
    if (items.length === 1) return [{ outcome: 'failed', reason: tooLarge.message }];
    const middle = Math.ceil(items.length / 2);
    return [...(await send(items.slice(0, middle))), ...(await send(items.slice(middle)))];
  };

  const save = async (checkpoint: ImportCheckpoint, added: readonly FailedItem[], mended: readonly number[]) => {
    const { id } = checkpoint;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const lines: FailureLine[] = [...added, ...mended.map((place) => ({ place, mended: true as const }))];
    let failureBytes = saved(id)?.failureBytes ?? 0;
    if (lines.length > 0) {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      failureBytes = await append(failuresPath(id), failureBytes, text);
    }
    await replaceText(statePath(id), JSON.stringify({ checkpoint, failureBytes } satisfies Saved));
    return checkpoint;
  };

  return {
    maxItems: itemsPerRequest,
    repeated: () => repeatedItems,
    load: async (id) => saved(id)?.checkpoint,
    failures: async (id) => failures(id),
    restart: async (id) => {
      rmSync(statePath(id), { force: true });
      rmSync(failuresPath(id), { force: true });
    },
    take: async (before, batch) => {
      const result = afterBatch(before, batch, await send(batch.items), now());
      return save(result.checkpoint, result.failures, result.mended);
    },
  };
}

/** Append after the bytes that count: what a killed process wrote beyond them is cut off. */
async function append(path: string, from: number, text: string): Promise<number> {
  if (existsSync(path)) truncateSync(path, from);
  const file = await open(path, 'a', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return from + Buffer.byteLength(text);
}

/** How long to wait before the next try, ms; null where another would fail the same way, or all are used up. */
function waitAfter(error: unknown, attempt: number): number | null {
  if (attempt >= maxTries) return null;
  const backoff = Math.min(maxWaitMs, 250 * 2 ** (attempt - 1));
  if (error instanceof UnreachableError) return backoff;
  if (error instanceof ServiceError && (error.status === 503 || error.status === 429)) {
    return Math.min(maxWaitMs, Math.max(backoff, (error.retryAfterS ?? 0) * 1000));
  }
  return null;
}

function stopped(error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  return new CliError(error.exitCode, `${error.message}\nwhat was imported is kept: run the same command to go on`, {
    cause: error,
  });
}

export const httpPromise = 'each page comes in once; visits of one batch may be counted twice after a kill';

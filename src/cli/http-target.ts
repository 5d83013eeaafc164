/**
 * Imports through a running service. Checkpoint: `<service>-<id>.json`, with the valid length of the append-only
 * `<service>-<id>.failures.jsonl`, so that both change together. A kill may repeat a batch of 100; visits count once.
 */

import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type importTarget, withPdfTexts } from '../actors/ingest/import-target.ts';
import { afterBatch, type ItemOutcome, outcomeOf, type PlacedItem } from '../compute/import-progress.ts';
import type { FailedItem, ImportCheckpoint, ImportListResponse } from '../domain/import.ts';
import type { IngestBatchResult } from '../domain/page.ts';
import { replaceText } from '../files/durable-file.ts';
import { type ImportTarget, retried, submissionOf } from '../importers/run-import.ts';
import { type Context, type ServiceClient, ServiceError, UnreachableError } from './context.ts';
import { CliError } from './output.ts';

interface Saved {
  checkpoint: ImportCheckpoint;
  failureBytes: number;
}

type BatchReply = { results: IngestBatchResult[] };
type FailureLine = FailedItem | { place: number; mended: true };

const itemsPerRequest = 100;

export async function httpTarget(
  { stateDir, library, now, signal }: Context,
  client: ServiceClient,
  label: string,
  pdfs: Parameters<typeof importTarget>[0]['pdfs'],
): Promise<ImportTarget> {
  // Checkpoints are per library. Without a library id, the address identifies the service.
  const { library_id } = await client
    .call<Partial<ImportListResponse>>('GET', '/v1/imports', undefined, signal)
    .catch((error) => {
      // A write-only token, or an older service.
      if (error instanceof ServiceError && (error.status === 403 || error.status === 404))
        return { library_id: undefined };
      throw error;
    });
  const service = hash('sha256', library_id ?? `${client.baseUrl} ${library ?? ''}`).slice(0, 16);
  const dir = join(stateDir, 'imports');
  const statePath = (id: string) => join(dir, `${service}-${id}.json`);
  const failuresPath = (id: string) => join(dir, `${service}-${id}.failures.jsonl`);

  const saved = (id: string): Saved | undefined =>
    existsSync(statePath(id)) ? (JSON.parse(readFileSync(statePath(id), 'utf8')) as Saved) : undefined;
  const failures = (id: string): FailedItem[] => {
    const bytes = saved(id)?.failureBytes ?? 0;
    if (bytes === 0) return [];
    const text = readFileSync(failuresPath(id)).toString('utf8', 0, bytes);
    const byPlace = new Map<number, FailedItem>();
    for (const line of text.split('\n').filter(Boolean)) {
      const failure = JSON.parse(line) as FailureLine;
      if ('mended' in failure) byPlace.delete(failure.place);
      else byPlace.set(failure.place, failure);
    }
    return [...byPlace.values()];
  };

  const taken = async (items: readonly PlacedItem[]): Promise<ItemOutcome[]> => {
    const sent = (await send(items.filter(({ item }) => item.fault === null))).values();
    return items.map(({ item }) => {
      if (item.fault !== null) return { outcome: 'failed', reason: item.fault };
      return sent.next().value ?? { outcome: 'failed', reason: 'the service did not answer' };
    });
  };

  const send = async (items: readonly PlacedItem[]): Promise<ItemOutcome[]> => {
    if (items.length === 0) return [];
    const pages = items.map(({ item }) => submissionOf(item, label));
    const call = () => client.call<BatchReply>('POST', '/v1/pages/batch', { pages }, signal);
    try {
      const { results } = await retried(call, requestedWaitMs, signal);
      return results.map((result, i) =>
        result.outcome === 'rejected' ? { outcome: 'failed', reason: result.detail } : outcomeOf(items[i].item, result),
      );
    } catch (error) {
      if (error instanceof ServiceError && error.status === 413) return sendParts(items, error);
      throw stopped(error);
    }
  };

  /** Halves batches that are too large. One item that is too large fails. */
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
    load: async (id) => saved(id)?.checkpoint,
    failures: async (id) => failures(id),
    restart: async (id) => {
      rmSync(statePath(id), { force: true });
      rmSync(failuresPath(id), { force: true });
    },
    take: async (before, batch) => {
      const items = await withPdfTexts(batch.items, pdfs, signal);
      const result = afterBatch(before, { ...batch, items }, await taken(items), now());
      return save(result.checkpoint, result.failures, result.mended);
    },
  };
}

/** Append after the valid bytes: later bytes of a killed process are cut off. */
async function append(path: string, from: number, text: string): Promise<number> {
  if (existsSync(path)) truncateSync(path, from);
  await using file = await open(path, 'a', 0o600);
  await file.writeFile(text);
  await file.sync();
  return from + Buffer.byteLength(text);
}

/** Retry time of a restarting or full service. */
function requestedWaitMs(error: unknown): number | null {
  if (error instanceof UnreachableError) return 0;
  const passes = error instanceof ServiceError && (error.status === 503 || error.status === 429);
  return passes ? (error.retryAfterS ?? 0) * 1000 : null;
}

function stopped(error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  return new CliError(error.exitCode, `${error.message}\nimported items are kept: run the same command to continue`, {
    cause: error,
  });
}

/** Runs an import in batches, one in memory. The target stores each with its checkpoint, where a restart resumes. */

import { setTimeout as delay } from 'node:timers/promises';
import { hasText, type ImportBatch, type PlacedItem, skipReason } from '../compute/import-progress.ts';
import { ownCopy } from '../compute/structures/longer.ts';
import {
  type FailedItem,
  type ImportCheckpoint,
  type ImportItem,
  type ImportOptions,
  noCounts,
} from '../domain/import.ts';
import type { IngestPageRequest } from '../domain/page.ts';
import { ImportError } from './item-parts.ts';
import type { ImportSource } from './open-source.ts';

export interface ImportTarget {
  maxItems: number;
  load(id: string): Promise<ImportCheckpoint | undefined>;
  failures(id: string): Promise<FailedItem[]>;
  restart(id: string): Promise<void>;
  /** Returns the next checkpoint when the batch is durable. */
  take(before: ImportCheckpoint, batch: ImportBatch): Promise<ImportCheckpoint>;
}

export interface RunImportOptions {
  source: ImportSource;
  target: ImportTarget;
  options: ImportOptions;
  mode: 'resume' | 'again' | 'retry-failed';
  now: () => number;
  signal: AbortSignal;
  onProgress?: (checkpoint: ImportCheckpoint) => void;
}

const maxBatchChars = 8 * 2 ** 20;

const maxCounted = 1_000_000;
const maxExamples = 1000;

/** Errors: ImportError for an unreadable source or changed options; those of the target; the signal's reason. */
export async function runImport(run: RunImportOptions): Promise<ImportCheckpoint> {
  const { source, target, options, mode, now, signal, onProgress } = run;
  if (mode === 'again') await target.restart(source.id);
  const known = await target.load(source.id);
  const retry = mode === 'retry-failed';
  if (retry && known === undefined)
    throw new ImportError('this source was not imported yet: there is nothing to try again');
  if (known?.finished === true && !retry) return known;
  if (known !== undefined && !retry && !sameOptions(known.options, options)) {
    throw new ImportError(
      'this import was begun with other options: pass the same ones to continue, or --again to start over',
    );
  }
  let checkpoint: ImportCheckpoint = known ?? {
    id: source.id,
    format: source.format,
    options,
    next: 0,
    counts: noCounts(),
    newest: null,
    finished: false,
    started_at: now(),
    updated_at: now(),
  };
  const begin = checkpoint.next;
  const failed = retry ? new Set((await target.failures(source.id)).map(({ place }) => place)) : null;
  let items: PlacedItem[] = [];
  let chars = 0;
  let skipped: ImportBatch['skipped'] = {};
  let place = -1;
  const send = async (last: boolean) => {
    const next = retry ? checkpoint.next : place + 1;
    checkpoint = await target.take(checkpoint, { items, next, skipped, last, retry });
    onProgress?.(checkpoint);
    items = [];
    chars = 0;
    skipped = {};
  };
  try {
    for await (const item of source.items()) {
      signal.throwIfAborted();
      place++;
      if (failed === null ? place < begin : !failed.has(place)) continue;
      const reason = retry ? null : skipReason(item, options);
      if (reason !== null) {
        skipped[reason] = (skipped[reason] ?? 0) + 1;
        continue;
      }
      items.push({ place, item });
      chars += (item.body_html?.length ?? 0) + (item.body_text?.length ?? 0) + (item.pdf?.length ?? 0);
      if (items.length >= target.maxItems || chars >= maxBatchChars) await send(false);
    }
  } catch (error) {
    if (error instanceof ImportError && !retry && place + 1 > checkpoint.next) await send(false);
    throw error;
  }
  if (retry) {
    if (items.length > 0) await send(false);
    return checkpoint;
  }
  if (place + 1 < begin) throw new ImportError('the source has fewer items than the last time');
  await send(true);
  return checkpoint;
}

const maxTries = 8;
const maxWaitMs = 10_000;

/**
 * Repeats work that a full queue, a busy reader or a restarting service refuses, at most 8 times; the longest wait is ten seconds.
 * `askedMsOf`: how long the error asks to wait, ms; null if another try does not help.
 * Errors: the last one; the signal's reason.
 */
export async function retried<Result>(
  work: () => Promise<Result>,
  askedMsOf: (error: unknown) => number | null,
  signal: AbortSignal,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const askedMs = tries < maxTries ? askedMsOf(error) : null;
      if (askedMs === null) throw error;
      await delay(Math.min(maxWaitMs, Math.max(askedMs, 250 * 2 ** (tries - 1))), undefined, { signal });
    }
  }
}

export interface DryRun {
  items: number;
  faults: string[];
  examples: { place: string; title: string; reason: string }[];
  /** Distinct addresses; null above a million. */
  addresses: number | null;
  skipped: Record<string, number>;
  withText: number;
  oldest: number | null;
  newest: number | null;
}

/** Counts what an import would add; writes nothing. `addressOf`: the canonical address. */
export async function dryRun(
  source: ImportSource,
  options: ImportOptions,
  addressOf: (url: string) => string,
): Promise<DryRun> {
  const result: DryRun = {
    items: 0,
    faults: [],
    examples: [],
    addresses: 0,
    skipped: {},
    withText: 0,
    oldest: null,
    newest: null,
  };
  const seen = new Set<string>();
  for await (const item of source.items()) {
    if (item.fault !== null) {
      result.faults.push(item.fault);
      continue;
    }
    const reason = skipReason(item, options);
    if (reason !== null) {
      result.skipped[reason] = (result.skipped[reason] ?? 0) + 1;
      const example = { place: source.place?.() ?? '', title: item.title ?? item.url, reason };
      if (result.examples.length < maxExamples) result.examples.push(example);
      continue;
    }
    result.items++;
    if (seen.size <= maxCounted) seen.add(ownCopy(addressOf(item.url)));
    if (hasText(item)) result.withText++;
    if (item.at === null) continue;
    result.oldest = Math.min(result.oldest ?? item.at, item.at);
    result.newest = Math.max(result.newest ?? item.at, item.at);
  }
  result.addresses = seen.size > maxCounted ? null : seen.size;
  return result;
}

export function submissionOf(item: ImportItem, label: string): IngestPageRequest {
  return {
    url: item.url,
    title: item.title,
    ...(item.body_html === null ? { body_extracted: item.body_text } : { body_html: item.body_html }),
    body_is_article: item.whole_page !== true,
    once: true,
    fetched_at: item.at === null ? null : new Date(item.at).toISOString(),
    source: label,
    metadata: item.metadata,
  };
}

function sameOptions(one: ImportOptions, other: ImportOptions): boolean {
  return one.since === other.since && one.min_visits === other.min_visits;
}

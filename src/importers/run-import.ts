/** Runs an import in batches, one in memory. The target stores each with a checkpoint, where a restart continues. */

import { setTimeout as delay } from 'node:timers/promises';
import { hasText, type ImportBatch, type PlacedItem, skipReason } from '../compute/import-progress.ts';
import { ownCopy } from '../compute/structures/longer.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../compute/web/canonical-url.ts';
import {
  type DryRun,
  type FailedItem,
  fileHost,
  type ImportCheckpoint,
  type ImportItem,
  type ImportOptions,
  noCounts,
} from '../domain/import.ts';
import type { IngestPageRequest } from '../domain/page.ts';
import { isoOf } from '../domain/values.ts';
import { ImportError } from './item-parts.ts';
import type { ImportSource } from './open-source.ts';

export interface ImportTarget {
  maxItems: number;
  load(id: string): Promise<ImportCheckpoint | undefined>;
  failures(id: string): Promise<FailedItem[]>;
  restart(id: string): Promise<void>;
  /** Resolves with the next checkpoint when the batch is durable. */
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
const maxFirst = 5;

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
 * `requestedWaitMs`: how long the error asks to wait, ms; null if another try does not help.
 * Errors: the last one; the signal's reason.
 */
export async function retried<Result>(
  work: () => Promise<Result>,
  requestedWaitMs: (error: unknown) => number | null,
  signal: AbortSignal,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const askedMs = tries < maxTries ? requestedWaitMs(error) : null;
      if (askedMs === null) throw error;
      await delay(Math.min(maxWaitMs, Math.max(askedMs, 250 * 2 ** (tries - 1))), undefined, { signal });
    }
  }
}

export const nothingRead = (): DryRun => ({
  items: 0,
  addresses: 0,
  with_text: 0,
  oldest: null,
  newest: null,
  first: [],
  skipped: {},
  examples: [],
  unreadable: 0,
  faults: [],
  error: null,
});

/** Counts what an import would add; writes nothing. */
export async function dryRun(
  source: ImportSource,
  options: ImportOptions,
  canonicalize: CanonicalizeSettings,
): Promise<DryRun> {
  const result = nothingRead();
  const { first, skipped, examples, faults } = result;
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const seen = new Set<string>();
  const count = (item: ImportItem) => {
    if (item.fault !== null) {
      result.unreadable++;
      if (faults.length < maxExamples) faults.push(item.fault);
      return;
    }
    const target = canonicalizeUrl(item.url, canonicalize);
    const reason = skipReason(item, options) ?? ('invalid' in target ? target.invalid : null);
    if (reason !== null) {
      skipped[reason] = (skipped[reason] ?? 0) + 1;
      const example = { place: source.place?.() ?? '', title: item.title ?? item.url, reason };
      if (examples.length < maxExamples) examples.push(example);
      return;
    }
    result.items++;
    if (first.length < maxFirst) first.push({ url: item.url, title: item.title });
    if (seen.size <= maxCounted) seen.add(ownCopy('invalid' in target ? item.url : target.canonical_url));
    if (hasText(item)) result.with_text++;
    oldest = Math.min(oldest, item.at ?? oldest);
    newest = Math.max(newest, item.at ?? newest);
  };
  try {
    for await (const item of source.items()) count(item);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    result.error = error.message;
  }
  const dates = oldest <= newest && { oldest: isoOf(oldest), newest: isoOf(newest) };
  return { ...result, ...dates, addresses: seen.size > maxCounted ? null : seen.size };
}

export function submissionOf(item: ImportItem, label: string): IngestPageRequest {
  return {
    url: item.url,
    title: item.title,
    ...(item.body_html === null ? { body_extracted: item.body_text } : { body_html: item.body_html }),
    body_is_article: item.whole_page !== true,
    // No item of another kind may replace the text of an own file.
    ...((item.is_own || !item.url.startsWith(`http://${fileHost}/`)) && { once: true }),
    fetched_at: item.at === null ? null : new Date(item.at).toISOString(),
    source: label,
    metadata: item.metadata,
  };
}

function sameOptions(one: ImportOptions, other: ImportOptions): boolean {
  return one.since === other.since && one.min_visits === other.min_visits;
}

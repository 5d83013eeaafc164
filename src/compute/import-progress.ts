/** How an import goes on: a batch of items and what became of them lead from one checkpoint to the next. Pure. */
import {
  type FailedItem,
  type ImportCheckpoint,
  type ImportCounts,
  type ImportItem,
  noCounts,
} from '../domain/import.ts';
import { maxUrlLength } from '../domain/texts.ts';

export interface PlacedItem {
  /** In the source, from 0. */
  place: number;
  item: ImportItem;
}

export interface ImportBatch {
  items: PlacedItem[];
  /** Items of the source that are dealt with after this batch. */
  next: number;
  /** Items left out since the batch before, by reason. */
  skipped: Record<string, number>;
  /** The source has no more. */
  last: boolean;
  /** The items failed before and are tried again: they are counted already. */
  retry: boolean;
}

export type ItemOutcome = { outcome: 'accepted' | 'revisit' | 'blacklisted' } | { outcome: 'failed'; reason: string };

export interface BatchResult {
  checkpoint: ImportCheckpoint;
  failures: FailedItem[];
  /** Places of items that failed before and do not any more. */
  mended: number[];
}

/** Longest reason kept of a failure, in characters. */
const maxReasonLength = 500;

/** `outcomes` are of the batch's items, in their order. */
export function afterBatch(
  before: ImportCheckpoint,
  batch: ImportBatch,
  outcomes: readonly ItemOutcome[],
  at: number,
): BatchResult {
  // A checkpoint may have been written before there were all these counts.
  const counts: ImportCounts = { ...noCounts(), ...before.counts, skipped: { ...before.counts.skipped } };
  const failures: FailedItem[] = [];
  const mended: number[] = [];
  let newest = before.newest;
  for (const [reason, count] of Object.entries(batch.skipped)) {
    counts.skipped[reason] = (counts.skipped[reason] ?? 0) + count;
  }
  for (const [index, result] of outcomes.entries()) {
    const { place, item } = batch.items[index];
    if (result.outcome === 'failed') {
      if (!batch.retry) counts.failed++;
      failures.push({ place, url: item.url, reason: result.reason.slice(0, maxReasonLength) });
      continue;
    }
    counts[result.outcome]++;
    if (result.outcome === 'accepted' && item.body_html === null && item.body_text === null) counts.to_fetch++;
    if (batch.retry) {
      counts.failed--;
      mended.push(place);
    }
    // A date to come is of a clock that was wrong: an import of what is newer would leave out everything.
    if (item.at !== null && item.at <= at) newest = Math.max(newest ?? item.at, item.at);
  }
  const finished = before.finished || batch.last;
  return { checkpoint: { ...before, next: batch.next, counts, newest, finished, updated_at: at }, failures, mended };
}

/** Why an item is left out, or null. */
export function skipReason(item: ImportItem, { since, min_visits }: ImportCheckpoint['options']): string | null {
  if (item.url === '') return 'no address';
  if (!/^https?:/i.test(item.url)) return 'not a web address';
  if (item.url.length > maxUrlLength) return `an address of more than ${maxUrlLength} characters`;
  if (item.visits !== null && item.visits < min_visits) return 'too few visits';
  if (since === null) return null;
  if (item.at === null) return 'no date';
  return item.at < since ? 'too old' : null;
}

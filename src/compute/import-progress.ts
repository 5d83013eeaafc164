/** Computes an import's next checkpoint from a batch and its outcomes. Pure. */
import {
  type FailedItem,
  fileHost,
  type ImportCheckpoint,
  type ImportCounts,
  type ImportItem,
  noCounts,
} from '../domain/import.ts';
import { maxUrlLength } from '../domain/values.ts';

export interface PlacedItem {
  /** Index in the source, from 0. */
  place: number;
  item: ImportItem;
}

export interface ImportBatch {
  items: PlacedItem[];
  /** Number of items processed after this batch. */
  next: number;
  /** Skipped items since the last batch, by reason. */
  skipped: Record<string, number>;
  last: boolean;
  /** Whether the items are retried; these are counted already. */
  retry: boolean;
}

export type ItemOutcome =
  | { outcome: 'accepted' | 'revisit' | 'replaced' | 'unchanged' | 'blacklisted' }
  | { outcome: 'failed'; reason: string };

/** An own file is the only page whose text is replaced by an import. */
export function outcomeOf(
  { url, is_own }: ImportItem,
  result: { outcome: 'accepted' | 'blacklisted' } | { outcome: 'revisit'; content_hash_differs: boolean },
): ItemOutcome {
  if (result.outcome !== 'revisit' || !isOwnFile(url)) return { outcome: result.outcome };
  if (!result.content_hash_differs) return { outcome: 'unchanged' };
  return is_own ? { outcome: 'replaced' } : { outcome: 'failed', reason: 'its text comes from a local file' };
}

const isOwnFile = (url: string): boolean => url.toLowerCase().startsWith(`http://${fileHost}/`);

const maxReasonLength = 500;

/** `outcomes`: one per item of the batch, in order. `mended`: items that failed before and succeeded now. */
export function afterBatch(before: ImportCheckpoint, batch: ImportBatch, outcomes: readonly ItemOutcome[], at: number) {
  // Older checkpoints may lack counts.
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
    const { outcome } = result;
    if (outcome === 'unchanged') counts.skipped.unchanged = (counts.skipped.unchanged ?? 0) + 1;
    else counts[outcome === 'replaced' ? 'revisit' : outcome]++;
    if (outcome === 'replaced') counts.replaced++;
    if (result.outcome === 'accepted' && !hasText(item)) counts.to_fetch++;
    if (batch.retry) {
      counts.failed--;
      mended.push(place);
    }
    // A future date comes from a wrong clock: a later import of newer items would skip all of them.
    if (item.at !== null && item.at <= at) newest = Math.max(newest ?? item.at, item.at);
  }
  const finished = before.finished || batch.last;
  return { checkpoint: { ...before, next: batch.next, counts, newest, finished, updated_at: at }, failures, mended };
}

export const hasText = ({ body_html, body_text, pdf }: ImportItem): boolean =>
  body_html !== null || body_text !== null || pdf !== undefined;

/** Why to skip an item, or null. An unreadable item is a failure instead. */
export function skipReason(item: ImportItem, { since, min_visits }: ImportCheckpoint['options']): string | null {
  if (item.fault !== null) return null;
  if (item.left_out !== undefined) return item.left_out;
  if (item.url === '') return 'no address';
  if (!/^https?:/i.test(item.url)) return 'not a web address';
  if (!hasText(item) && isOwnFile(item.url)) return 'no text';
  if (item.url.length > maxUrlLength) return `an address of more than ${maxUrlLength} characters`;
  if (item.visits !== null && item.visits < min_visits) return 'too few visits';
  if (since === null) return null;
  if (item.at === null) return 'no date';
  return item.at < since ? 'too old' : null;
}

/**
 * The handler of `poll_watch` jobs, whatever the kind of the watch. Safe to run again at any point: an item that an earlier attempt
 * brought in is known by then.
 *
 * 1. the poller of the kind reads the source
 * 2. items whose page is known, or that are blacklisted, are left out; the new ones are taken in, a few at a time
 * 3. the job's completion notes what to ask for next time: only then, so that nothing is skipped that is not on the disk
 */
import { cameElsewhere, type ItemSubmission, notePolled, takeItems } from '../../commands/take-items.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { JobError } from '../../domain/errors.ts';
import { idOf } from '../../domain/ids.ts';
import type { PageMetadata } from '../../domain/metadata.ts';
import type { Validators, Watch, WatchConfig, WatchKind } from '../../domain/watch.ts';
import type { StoreReader } from '../../store/store.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import { type JobHandler, takenOver } from '../jobs/job-actor.ts';
import type { CommitCommand } from '../system/system-messages.ts';

export interface SourceItem {
  /** Absolute, http or https. */
  url: string;
  title: string | null;
  /** What the source calls it for good, so that it is the same item under another address. */
  guid?: string | null;
  /** UTC, ISO 8601. */
  published_at: string | null;
  /** HTML that stands in for the page where it cannot be fetched. */
  content: string | null;
  /** Kept in its page's metadata, beside what the poll and the watch say of it. */
  metadata?: PageMetadata;
}

export interface SourceReading<Item = SourceItem> {
  /** In the source's order; null: nothing has changed since the validators were given. */
  items: Item[] | null;
  title: string | null;
  /** Where the items were found. */
  url: string;
  validators: Validators | null;
  feed_url: string | null;
}

/** What a watch's config asks of the pages that it brings in. */
export interface SourcePolicy {
  /** The `source` of the pages. */
  source: string;
  /** Items taken from one poll; null: as the settings say. */
  maxItems: number | null;
  /** Kept in the pages' metadata, beside what the poll says of them. */
  metadata?: PageMetadata;
}

/** One for each kind of watch. */
export interface Poller {
  /** Errors: `{invalid}` with a sentence that names the key. */
  policyOf(config: WatchConfig | null): SourcePolicy | { invalid: string };
  /** Errors: JobError. */
  poll(watch: Watch, signal: AbortSignal): Promise<SourceReading>;
}

/** A kind without a poller cannot be watched. */
export type Pollers = Readonly<Partial<Record<WatchKind, Poller>>>;

export interface PollWatchDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  pollers: Pollers;
  canonicalize: CanonicalizeSettings;
  maxAttempts: number;
  maxItemsPerPoll: number;
  /** Why nothing new is taken in now, or null. */
  overQuota: () => string | null;
  metrics: LibraryMetrics;
  now: () => number;
}

/** Items of one commit: a few ms. */
const itemsPerCommit = 20;
/** Items looked up before others get their turn: 1 ms. */
const sliceItems = 50;

export function pollWatchHandler(dependencies: PollWatchDependencies): JobHandler {
  const { reader, commit, pollers, canonicalize, maxAttempts, maxItemsPerPoll, overQuota, metrics, now } = dependencies;

  /** The items that are new, in order: at most `limit`, and whether there are more. */
  const newItems = async (watchNo: number, items: readonly SourceItem[], limit: number, signal: AbortSignal) => {
    const found: { item: SourceItem; canonical_url: string; domain: string }[] = [];
    const seen = new Set<string>();
    for (const [i, item] of items.entries()) {
      if (i % sliceItems === sliceItems - 1) {
        await new Promise(setImmediate);
        signal.throwIfAborted();
      }
      const canonical = canonicalizeUrl(item.url, canonicalize);
      if ('invalid' in canonical || seen.has(canonical.canonical_url)) continue;
      seen.add(canonical.canonical_url);
      if (reader.pages.numberByUrl(canonical.canonical_url) !== undefined) continue;
      if (cameElsewhere(reader, watchNo, item.guid ?? null, canonical.canonical_url)) continue;
      if (reader.blacklist.match({ ...canonical, original_url: item.url }) !== undefined) continue;
      if (found.length === limit) return { found, areMore: true };
      found.push({ item, ...canonical });
    }
    return { found, areMore: false };
  };

  return async (job, { attempt, signal }) => {
    const watch = reader.watches.ofJob(job.no);
    if (watch === undefined) {
      throw new JobError('the watch was deleted, or polled again since', { permanent: true });
    }
    const poller = pollers[watch.kind];
    if (poller === undefined) throw new JobError(`this version cannot poll kind ${watch.kind}`, { permanent: true });
    const policy = poller.policyOf(watch.config);
    if ('invalid' in policy) throw new JobError(policy.invalid, { permanent: true });
    const { items, ...reading } = await poller.poll(watch, signal);
    if (items === null) return notePolled(job.no, now(), { items: null, ...reading });

    const at = now();
    const limit = Math.min(maxItemsPerPoll, policy.maxItems ?? maxItemsPerPoll);
    const { found, areMore } = await newItems(watch.no, items, limit, signal);
    const refusal = found.length > 0 ? overQuota() : null;
    if (refusal !== null) throw new JobError(refusal);
    const submissions = found.map(
      ({ item, canonical_url, domain }): ItemSubmission => ({
        submission: {
          canonical_url,
          domain,
          original_url: item.url,
          title: item.title,
          body: null,
          content_hash: null,
          sections: [],
          source: policy.source,
          metadata: {
            watch_id: idOf('watch', watch.no),
            feed_url: reading.url,
            feed_title: reading.title,
            published_at: item.published_at,
            ...policy.metadata,
            ...item.metadata,
          },
          seen_at: at,
          at,
          max_attempts: maxAttempts,
        },
        guid: item.guid ?? null,
        feed_content: item.content,
      }),
    );
    for (let from = 0; from < submissions.length; from += itemsPerCommit) {
      signal.throwIfAborted();
      const taken = await commit(takeItems(attempt, submissions.slice(from, from + itemsPerCommit)));
      if (taken === null) throw takenOver();
      metrics.ingestPages.inc({ outcome: 'queued' }, taken.accepted);
      metrics.ingestPages.inc({ outcome: 'blacklisted' }, taken.blacklisted);
    }
    return notePolled(job.no, now(), {
      items: Math.min(items.length, limit),
      validators: areMore ? null : reading.validators,
      feed_url: reading.feed_url,
    });
  };
}

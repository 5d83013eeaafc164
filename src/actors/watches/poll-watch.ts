/**
 * The handler of `poll_watch` jobs: stores new items, then the validators once all items are on disk, so that no item
 * is skipped. Logs when a source fails or recovers, and when its number of entries without an address changes.
 */
import { cameElsewhere, type ItemSubmission, notePolled, takeItems } from '../../commands/take-items.ts';
import type { FeedItem } from '../../compute/feed/feed.ts';
import { canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { JobError } from '../../domain/errors.ts';
import type { Job } from '../../domain/job.ts';
import type { PageMetadata } from '../../domain/metadata.ts';
import { idOf } from '../../domain/values.ts';
import type { Validators, Watch, WatchConfig, WatchedSource, WatchKind } from '../../domain/watch.ts';
import { ProviderError } from '../../providers/resilient-call.ts';
import { nextTurn } from '../system/background.ts';
import {
  type Completion,
  codeOf,
  isNotMade,
  type JobContext,
  type JobHandler,
  LoggedError,
  takenOver,
} from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';

/** `content`: HTML to use if the page cannot be fetched. */
export interface SourceItem extends FeedItem {
  /** The source's permanent id, for items with changing addresses. */
  guid?: string | null;
  /** Added to the page's metadata. */
  metadata?: PageMetadata;
}

export interface SourceReading<Item = SourceItem> {
  /** In the source's order; null: unchanged since the validators. */
  items: Item[] | null;
  /** Number of entries without an address; absent if unknown. */
  leftOut?: number;
  title: string | null;
  /** Final address of the source, after redirects. */
  url: string;
  validators: Validators | null;
  feed_url: string | null;
}

interface SourcePolicy {
  source: string;
  /** Items per poll; null: the setting's. */
  maxItems: number | null;
  /** Added to the pages' metadata. */
  metadata?: PageMetadata;
}

export interface Poller {
  /** Errors: `{invalid}` with a message that names the key. */
  policyOf(config: WatchConfig | null): SourcePolicy | { invalid: string };
  /** Errors: JobError. */
  poll(source: WatchedSource, signal: AbortSignal): Promise<SourceReading>;
}

/** A kind without a poller cannot be watched. */
export type Pollers = Readonly<Partial<Record<WatchKind, Poller>>>;

interface PollWatchDependencies
  extends Pick<LibraryParts, 'reader' | 'commit' | 'metrics' | 'canonicalize' | 'maxAttempts' | 'log' | 'now'> {
  pollers: Pollers;
  maxItemsPerPoll: number;
  /** Why nothing new is stored now, or null. */
  overQuota: () => string | null;
}

/** Items per commit: a few ms. */
const itemsPerCommit = 20;
/** Items checked per turn of the event loop: 1 ms. */
const sliceItems = 50;

export function pollWatchHandler(dependencies: PollWatchDependencies): JobHandler {
  const { reader, commit, pollers, canonicalize, maxAttempts, maxItemsPerPoll, overQuota, metrics, log, now } =
    dependencies;

  /** At most `limit` new items in order, and whether there are more. */
  const newItems = async (watchNo: number, items: readonly SourceItem[], limit: number, signal: AbortSignal) => {
    const found: { item: SourceItem; canonical_url: string; domain: string }[] = [];
    const seen = new Set<string>();
    for (const [i, item] of items.entries()) {
      if (i % sliceItems === sliceItems - 1) await nextTurn(signal);
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

  /** Last logged count by watch, since the start of the process. */
  const leftOutBefore = new Map<number, number>();

  const poll = async (watch: Watch, job: Job, { attempt, signal }: JobContext): Promise<Completion> => {
    const line = { watch_id: idOf('watch', watch.no), kind: watch.kind };
    const poller = pollers[watch.kind];
    if (poller === undefined) throw new JobError(`this version cannot poll kind ${watch.kind}`, { permanent: true });
    const policy = poller.policyOf(watch.config);
    if ('invalid' in policy) throw new JobError(policy.invalid, { permanent: true });
    const read = poller.poll(watch, signal).catch((error: unknown) => {
      const isOfSource = error instanceof JobError || error instanceof ProviderError;
      if (!isOfSource || isNotMade(error) || signal.aborted) throw error;
      if (watch.status !== 'error') log.warn({ ...line, code: codeOf(error) }, 'the source of a watch cannot be read');
      throw new LoggedError(error);
    });
    const { items, leftOut = 0, ...reading } = await read;
    if (items === null) return notePolled(job.no, now(), { items: null, ...reading });
    if (leftOut !== (leftOutBefore.get(watch.no) ?? 0)) {
      log.warn({ ...line, entries: leftOut }, 'a watch skips entries without an address');
      leftOutBefore.set(watch.no, leftOut);
    }

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
  return async (job, context) => {
    const watch = reader.watches.ofJob(job.no);
    if (watch === undefined) {
      throw new JobError('the watch was deleted, or another poll has run', { permanent: true });
    }
    const completion = await poll(watch, job, context);
    if (watch.status === 'error')
      log.info({ watch_id: idOf('watch', watch.no), kind: watch.kind }, 'the source of a watch can be read again');
    return completion;
  };
}

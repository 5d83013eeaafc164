/** Watches: lists them, changes them, and starts polls on request. The poll clock starts due polls. */

import pLimit from 'p-limit';
import {
  createWatch,
  deleteWatch,
  drawInSchedules,
  editWatch,
  runWatch,
  startDuePolls,
} from '../../commands/change-watches.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { DomainError, JobError, required, unknownId } from '../../domain/errors.ts';
import type { MessageName } from '../../domain/messages.ts';
import { idOf, isoOf, isPart, type ListPart, numberOf } from '../../domain/values.ts';
import type {
  CreateWatchRequest,
  Watch,
  WatchCheckResponse,
  WatchConfig,
  WatchKind,
  WatchResponse,
} from '../../domain/watch.ts';
import { ProviderError } from '../../providers/resilient-call.ts';
import { Background, type Every } from '../system/background.ts';
import type { Handlers, LibraryParts, StartService } from '../system/service.ts';
import type { Pollers } from './poll-watch.ts';

interface WatchesDependencies extends PollClockDependencies {
  pollers: Pollers;
  canonicalize: Pick<CanonicalizeSettings, 'tracking_params'>;
  defaultIntervalHours: number;
}

/** Rows per read: half a millisecond. */
const rowsPerRead = 100;
/** Max concurrent checks of new sources. A source is read once before it is watched. */
const checksAtOnce = 4;

type WatchMessages = Extract<MessageName, `watch.${string}`>;

export function watchesService(dependencies: WatchesDependencies): StartService<WatchMessages> {
  const { reader, commit, pollers, canonicalize, defaultIntervalHours, maxAttempts, now } = dependencies;

  const start: StartService<WatchMessages> = async ({ ending }) => {
    const checks = pLimit(checksAtOnce);
    const polls = startPollClock(dependencies);

    const handlers: Handlers<WatchMessages> = {
      'watch.list': (part) => ({
        watches: watchRows(reader, part),
        ...(isPart(part) && { total: reader.watches.count() }),
      }),
      'watch.get': ({ watch_id }) =>
        watchResponseOf(required(reader.watches.get(numberOf('watch', watch_id) ?? 0), 'watch', watch_id)),
      'watch.create': async (request) => {
        const { kind, url, title, enabled, interval_hours, config } = request;
        const watch = await commit(
          createWatch({
            url,
            kind,
            title: title ?? null,
            enabled,
            interval_hours: interval_hours ?? defaultIntervalHours,
            config: config ?? null,
            identity: identityOf(request),
            at: now(),
          }),
        );
        polls.lookSoon();
        return watchResponseOf(watch);
      },
      'watch.check': (request, signal) =>
        checks(() => check(request, signal === undefined ? ending : AbortSignal.any([signal, ending]))),
      'watch.update': async ({ watch_id, enabled, interval_hours, title, config }) => {
        const no = numberOf('watch', watch_id) ?? 0;
        const known = required(reader.watches.get(no), 'watch', watch_id);
        if (config != null) checkConfig(known.kind, config);
        const changes = {
          ...(enabled == null ? {} : { enabled }),
          ...(interval_hours == null ? {} : { interval_hours }),
          ...(title === undefined ? {} : { title }),
          ...(config === undefined ? {} : { config }),
        };
        const watch = await commit(editWatch(no, changes));
        polls.lookSoon();
        return watchResponseOf(required(watch, 'watch', watch_id));
      },
      'watch.delete': async ({ watch_id }) => {
        const isGone = await commit(deleteWatch(numberOf('watch', watch_id) ?? 0, now()));
        if (!isGone) throw unknownId('watch', watch_id);
        return null;
      },
      'watch.run': async ({ watch_id }) => {
        const policy = { at: now(), max_attempts: maxAttempts };
        const jobNo = await commit(runWatch(numberOf('watch', watch_id) ?? 0, policy));
        return { watch_id, job_id: idOf('job', required(jobNo, 'watch', watch_id)) };
      },
    };
    return { handlers, stop: polls.stop };
  };

  const check = async (
    { url, kind }: Pick<CreateWatchRequest, 'url' | 'kind'>,
    signal: AbortSignal,
  ): Promise<WatchCheckResponse> => {
    const nothing = { watch_id: null, title: null, feed_url: null, items: null, reason: null };
    const known = reader.watches.find(identityOf({ url, kind }));
    if (known !== undefined) return { ...nothing, watch_id: idOf('watch', known.no), title: known.title };
    const source = { url, config: null, validators: null, feed_url: null };
    try {
      const { title, feed_url, items } = await required(pollers[kind], 'kind', kind).poll(source, signal);
      return { ...nothing, title, feed_url, items: items?.length ?? 0 };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof JobError || error instanceof ProviderError) return { ...nothing, reason: error.message };
      throw error;
    }
  };

  /** Errors: DomainError `invalid` if the source cannot be watched. */
  const identityOf = ({ url, kind, config }: Pick<CreateWatchRequest, 'url' | 'kind' | 'config'>): string => {
    // Rules for single sites apply to pages. Feeds need their parameters.
    const canonical = canonicalizeUrl(url, { ...canonicalize, keep_params: {}, known_addresses: false });
    if ('invalid' in canonical) throw new DomainError('invalid', canonical.invalid);
    if (!/^https?:/.test(canonical.canonical_url)) throw new DomainError('invalid', 'url must be http or https');
    checkConfig(kind, config ?? null);
    return canonical.canonical_url;
  };
  const checkConfig = (kind: WatchKind, config: WatchConfig | null): void => {
    const poller = pollers[kind];
    if (poller === undefined) throw new DomainError('invalid', `this version cannot watch sources of kind ${kind}`);
    const policy = poller.policyOf(config);
    if ('invalid' in policy) throw new DomainError('invalid', policy.invalid);
  };

  return start;
}

/** Watches in the contract's form, oldest first, read in parts. */
async function* watchRows(
  { watches }: WatchesDependencies['reader'],
  { offset = 0, limit = Number.POSITIVE_INFINITY }: ListPart,
): AsyncGenerator<WatchResponse> {
  let left = limit;
  for (let after = offset === 0 ? 0 : watches.numberAt(offset - 1); after !== null && left > 0; ) {
    const rows = watches.list(after, Math.min(rowsPerRead, left));
    yield* rows.map(watchResponseOf);
    left -= rows.length;
    after = rows.at(-1)?.no ?? null;
  }
}

function watchResponseOf(watch: Watch): WatchResponse {
  return {
    id: idOf('watch', watch.no),
    kind: watch.kind,
    url: watch.url,
    title: watch.title,
    enabled: watch.enabled,
    interval_hours: watch.interval_hours,
    config: watch.config,
    next_run_at: isoOf(watch.next_run_at),
    last_run_at: watch.last_run_at === null ? null : isoOf(watch.last_run_at),
    last_status: watch.status,
    last_error: watch.last_error,
    last_item_count: watch.last_item_count,
    created_at: isoOf(watch.created_at),
  };
}

/* Starts due polls every minute and after changes, by wall clock and rows. After a sleep, each watch polls once. */

interface PollClockDependencies extends Pick<LibraryParts, 'reader' | 'commit' | 'maxAttempts' | 'log' | 'now'> {
  /** `watch.poll_tick_enabled`; without it only users start polls. */
  tickEnabled: boolean;
  maxDuePerTick: number;
  every?: Every;
}

const tickMs = 60_000;
/** Max watches rescheduled per commit after the clock was set back: a few ms. */
const drawnInPerCommit = 100;

/** Checks for due polls at once. */
function startPollClock(dependencies: PollClockDependencies) {
  const { reader, commit, tickEnabled, maxDuePerTick, maxAttempts, log, now, every } = dependencies;
  const background = new Background(log, every);
  /** Max polls to start until the next tick. */
  let allowance = maxDuePerTick;
  /** Wall clock at the last tick. Infinity, as the clock may have been set back before the start. */
  let lastTickAt = Number.POSITIVE_INFINITY;

  const startDue = async () => {
    const at = now();
    if (!tickEnabled || allowance === 0 || reader.watches.dueAt(at, 1).length === 0) return;
    const limit = allowance;
    allowance = 0;
    allowance = limit - (await commit(startDuePolls(limit, { at, max_attempts: maxAttempts })));
  };
  const drawIn = async () => {
    const at = now();
    const before = lastTickAt;
    lastTickAt = at;
    if (!tickEnabled || at >= before) return;
    await background.slices(0, (after: number) => commit(drawInSchedules(at, after, drawnInPerCommit)));
  };
  const renewAllowance = async () => {
    allowance = maxDuePerTick;
    await startDue();
  };

  // Sequential, to respect the allowance.
  const notPolled = 'due watches could not be polled';
  const tick = async () => {
    background.soon('the schedules of watches could not be looked at', drawIn);
    background.soon(notPolled, renewAllowance);
  };
  background.soon(notPolled, tick);
  background.every(tickMs, notPolled, tick);
  return {
    /** Start due polls, within this minute's allowance. */
    lookSoon: () => background.soon(notPolled, startDue),
    stop: () => background.stop(),
  };
}

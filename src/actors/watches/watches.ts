/**
 * Watches: answers what is watched, changes it, and starts the polls that are due. Every minute, and when a change made a watch due, it
 * looks at the wall clock and the rows, never at how much time a timer says has passed: a machine that slept wakes to one poll a watch.
 */
import type { Logger } from 'pino';
import {
  createWatch,
  deleteWatch,
  drawInSchedules,
  editWatch,
  runWatch,
  startDuePolls,
} from '../../commands/change-watches.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import { idOf, isoOf, numberOf } from '../../domain/ids.ts';
import type { MessageName } from '../../domain/messages.ts';
import type { CreateWatchRequest, Watch, WatchConfig, WatchKind, WatchResponse } from '../../domain/watch.ts';
import type { StoreReader } from '../../store/store.ts';
import { type Every, everyMs } from '../system/every.ts';
import { type Handlers, serviceLogic } from '../system/service.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import type { Pollers } from './poll-watch.ts';

export interface WatchesDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  pollers: Pollers;
  canonicalize: Pick<CanonicalizeSettings, 'tracking_params'>;
  defaultIntervalHours: number;
  /** `watch.poll_tick_enabled`; without it polls are started by `run` only. */
  tickEnabled: boolean;
  maxDuePerTick: number;
  maxAttempts: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  /** Run something every so many ms; gives how to stop it. */
  every?: Every;
}

type WatchMessages = Extract<MessageName, `watch.${string}`>;

const tickMs = 60_000;
/** Watches whose schedule is looked at in one commit after the clock was set: a few ms. */
const drawnInPerCommit = 100;

export function watchesLogic(dependencies: WatchesDependencies) {
  const { reader, commit, pollers, canonicalize, tickEnabled, maxDuePerTick, maxAttempts, log, now } = dependencies;
  const { defaultIntervalHours, every = everyMs } = dependencies;

  const start = async () => {
    /** Polls that may still be started before the next tick. */
    let allowance = maxDuePerTick;
    /** The wall clock at the last tick; before the first, the clock may have been set while no process ran. */
    let lastTickAt = Number.POSITIVE_INFINITY;
    let stopping = false;

    const startDue = async () => {
      const at = now();
      if (!tickEnabled || stopping || allowance === 0 || reader.watches.dueAt(at, 1).length === 0) return;
      const limit = allowance;
      allowance = 0;
      try {
        allowance = limit - (await commit(startDuePolls(limit, { at, max_attempts: maxAttempts })));
      } catch (error) {
        log.warn({ err: error }, 'due watches could not be polled');
      }
    };
    const drawIn = async (at: number) => {
      try {
        for (let after: number | null = 0; after !== null && !stopping; ) {
          after = await commit(drawInSchedules(at, after, drawnInPerCommit));
        }
      } catch (error) {
        log.warn({ err: error }, 'the schedules of watches could not be looked at');
      }
    };
    /** One after the other, so that the allowance is right. */
    let work: Promise<void> = Promise.resolve();
    const soon = (step: () => Promise<void>) => {
      work = work.then(step);
    };
    const tick = async () => {
      allowance = maxDuePerTick;
      const at = now();
      if (tickEnabled && at < lastTickAt) await drawIn(at);
      lastTickAt = at;
      await startDue();
    };
    soon(tick);
    const stopTicks = every(tickMs, () => soon(tick));

    const handlers: Handlers<WatchMessages> = {
      'watch.list': () => ({ watches: reader.watches.list().map(watchResponseOf) }),
      'watch.get': ({ watch_id }) => {
        const watch = reader.watches.get(numberOf('watch', watch_id) ?? 0);
        return watch === undefined ? unknown(watch_id) : watchResponseOf(watch);
      },
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
        soon(startDue);
        return watchResponseOf(watch);
      },
      'watch.update': async ({ watch_id, enabled, interval_hours, title, config }) => {
        const no = numberOf('watch', watch_id) ?? 0;
        const known = reader.watches.get(no);
        if (known === undefined) return unknown(watch_id);
        if (config != null) checkConfig(known.kind, config);
        const changes = {
          ...(enabled == null ? {} : { enabled }),
          ...(interval_hours == null ? {} : { interval_hours }),
          ...(title === undefined ? {} : { title }),
          ...(config === undefined ? {} : { config }),
        };
        const watch = await commit(editWatch(no, changes));
        soon(startDue);
        return watch === null ? unknown(watch_id) : watchResponseOf(watch);
      },
      'watch.delete': async ({ watch_id }) => {
        const isGone = await commit(deleteWatch(numberOf('watch', watch_id) ?? 0, now()));
        return isGone ? null : unknown(watch_id);
      },
      'watch.run': async ({ watch_id }) => {
        const policy = { at: now(), max_attempts: maxAttempts };
        const jobNo = await commit(runWatch(numberOf('watch', watch_id) ?? 0, policy));
        return jobNo === null ? unknown(watch_id) : { watch_id, job_id: idOf('job', jobNo) };
      },
    };
    return {
      handlers,
      stop: async () => {
        stopping = true;
        stopTicks();
        await work;
      },
    };
  };

  /** Errors: DomainError `invalid` for what cannot be watched. */
  const identityOf = ({ url, kind, config }: CreateWatchRequest): string => {
    // Rules for single domains are about pages: feeds are named by parameters that pages are not.
    const canonical = canonicalizeUrl(url, { ...canonicalize, keep_params: {} });
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

  return serviceLogic<WatchMessages>('watches', start);
}

function unknown(watch_id: string): never {
  throw unknownId('watch', watch_id);
}

/** The contract's view of a watch. */
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

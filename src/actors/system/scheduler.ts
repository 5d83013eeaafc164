/**
 * The scheduler: claims due jobs into free places and runs one job actor per job. It looks when a commit makes a job
 * claimable, when a job ends or is due, and at least every `longestMs`. Each look also releases jobs of expired leases.
 *
 * recovering  releases jobs left by the library's last opening
 * hindered    the store failed (disk full): retries while the rest of the system serves
 * idle        waits for a reason to look
 * claiming    the writer claims; a new reason (`again`) leads to another look, a stop (`last`) to draining
 * draining    no new claims; job actors were asked to stop; ends with the last of them
 */
import {
  type ActorRefFrom,
  assign,
  createActor,
  fromCallback,
  fromPromise,
  setup,
  stateIn,
  stopChild,
  toPromise,
  waitFor,
} from 'xstate';
import { type Claimed, claimJobs, expireLeases, recoverOrphans, shortenWaits } from '../../commands/claim-jobs.ts';
import { DomainError } from '../../domain/errors.ts';
import { type JobKind, type Lane, laneOf } from '../../domain/job.ts';
import { type JobHandler, type JobLimits, jobActor } from './job-actor.ts';
import type { LibraryParts, StartService } from './service.ts';

export interface SchedulerDependencies extends Pick<LibraryParts, 'commit' | 'feed' | 'log' | 'now'> {
  handlers: Partial<Record<JobKind, JobHandler>>;
  limits: JobLimits;
  capacity: Record<Lane, number>;
  /** Without a network: how many jobs of its lane may run, and the ms until the next look. Null with a network. */
  held?: () => LaneLimit | null;
  incarnation: string;
  random: () => number;
}

export interface LaneLimit {
  lane: Lane;
  /** 0, or 1 for a job that tests the network. */
  places: number;
  /** Time until the next look, ms; ignored if a place is free. */
  forMs: number;
}

interface RunningJob {
  lane: Lane;
  actor: ActorRefFrom<typeof jobActor>;
}

interface Context {
  running: ReadonlyMap<string, RunningJob>;
  nextDueAt: number | null;
  error: unknown;
}

type Event =
  | { type: 'wake' }
  | { type: 'cancelled'; id: string }
  | { type: 'stop' }
  | { type: `xstate.done.actor.job.${string}`; actorId: string };

const retryMs = 1000;
/** Max time between two looks, each a commit. Limits how late a clock change or a lost claim is detected. */
const longestMs = 60_000;
/** Max time between two looks while jobs run, as a share of the lease. Limits how late an expired lease is detected. */
const shareOfLease = 0.1;
/** Max jobs rescheduled per look after the clock was set back. */
const drawnAtOnce = 1000;

/** Ready when the jobs left by the last opening are released, or when this is known to be hindered. */
export function schedulerService(dependencies: SchedulerDependencies): StartService {
  const machine = schedulerMachine(dependencies);
  return async ({ ending }) => {
    const actor = createActor(machine).start();
    ending.addEventListener('abort', () => actor.send({ type: 'stop' }));
    await waitFor(actor, (snapshot) => snapshot.status !== 'active' || !snapshot.matches('recovering'));
    const { error } = actor.getSnapshot().context;
    if (error !== undefined) throw error;
    return {
      handlers: {},
      stop: async () => {
        await toPromise(actor);
      },
    };
  };
}

export function schedulerMachine(dependencies: SchedulerDependencies) {
  const { commit, feed, handlers, limits, capacity, held = () => null, incarnation, now, random, log } = dependencies;

  const places = (running: Context['running'], hold: LaneLimit | null) => {
    const free = { ...capacity };
    for (const { lane } of running.values()) free[lane]--;
    if (hold !== null) free[hold.lane] = Math.min(free[hold.lane], hold.places);
    return free;
  };

  /** Time of the last look. Infinity: the first look assumes that the clock was set back, as no process watched it. */
  let lastLook = Number.POSITIVE_INFINITY;

  return setup({
    types: { context: {} as Context, events: {} as Event },
    actors: {
      job: jobActor,
      recover: fromPromise(async () => {
        const orphans = await commit(recoverOrphans(incarnation, now()));
        if (orphans.length > 0)
          log.warn(
            { jobs: orphans.length, kinds: [...new Set(orphans.map(({ kind }) => kind))] },
            'jobs left running were released',
          );
      }),
      claim: fromPromise<Claimed, Context['running']>(async ({ input: running }) => {
        const at = now();
        const hold = held();
        const free = places(running, hold);
        const request = { at, incarnation, leaseMs: limits.leaseMs, free, running: running.size };
        const { drawn, expired, claimed } = await commit((transaction) => ({
          drawn: at < lastLook ? shortenWaits(at, drawnAtOnce)(transaction) : 0,
          expired: expireLeases(at)(transaction).length,
          claimed: claimJobs(request)(transaction),
        }));
        // If more are left, the next look continues.
        if (drawn < drawnAtOnce) lastLook = at;
        if (drawn > 0)
          log.warn({ jobs: drawn }, 'the clock was set back: jobs that waited for a later time are due now');
        if (expired > 0) log.warn({ jobs: expired }, 'jobs with expired leases were released');
        if (hold === null || hold.places > 0) return claimed;
        return { ...claimed, nextDueAt: Math.min(claimed.nextDueAt ?? Infinity, at + hold.forMs) };
      }),
      listen: fromCallback<Event>(({ sendBack }) =>
        feed.subscribe('durable', ({ jobs }) => {
          for (const { status, no, claim } of jobs) {
            if (status === 'done') sendBack({ type: 'cancelled', id: actorIdOf({ no, claim }) });
          }
          if (jobs.some((job) => job.status === 'pending' || job.status === 'failed')) sendBack({ type: 'wake' });
        }),
      ),
    },
    delays: {
      untilNextLook: ({ context }) =>
        Math.max(
          0,
          Math.min(
            context.running.size > 0 ? limits.leaseMs * shareOfLease : longestMs,
            longestMs,
            (context.nextDueAt ?? Infinity) - now(),
          ),
        ),
      retry: retryMs,
    },
    guards: {
      nothingRuns: ({ context }) => context.running.size === 0,
    },
    actions: {
      work: assign(({ context, spawn }, { jobs, nextDueAt }: Claimed) => {
        const running = new Map(context.running);
        for (const job of jobs) {
          const id = actorIdOf(job);
          const input = { job, handler: handlers[job.kind], commit, now, random, limits, log };
          running.set(id, { lane: laneOf(job), actor: spawn('job', { id, input }) });
        }
        return { running, nextDueAt };
      }),
      forget: assign(({ context, event }) => {
        const running = new Map(context.running);
        if ('actorId' in event) running.delete(event.actorId);
        return { running };
      }),
      /** An ended actor stays among the children until it is stopped. */
      bury: stopChild(({ event }) => ('actorId' in event ? event.actorId : '')),
      /** An actor that has reported its end ignores this. */
      cancel: ({ context, event }) => {
        if ('id' in event) context.running.get(event.id)?.actor.send({ type: 'cancelled' });
      },
      askAllToStop: ({ context }) => {
        for (const { actor } of context.running.values()) actor.send({ type: 'stop' });
      },
      noteFailedLook: (_, { error }: { error: unknown }) => log.warn({ err: error }, 'jobs could not be claimed'),
    },
  }).createMachine({
    id: 'scheduler',
    context: { running: new Map(), nextDueAt: null, error: undefined },
    invoke: { src: 'listen' },
    initial: 'recovering',
    on: {
      cancelled: { actions: 'cancel' },
      stop: { target: '.draining', actions: 'askAllToStop' },
      'xstate.done.actor.job.*': { actions: ['forget', 'bury'] },
    },
    states: {
      recovering: {
        invoke: {
          src: 'recover',
          onDone: 'claiming',
          onError: [
            {
              guard: ({ event }) => event.error instanceof DomainError && event.error.code === 'store_unavailable',
              target: 'hindered',
              actions: { type: 'noteFailedLook', params: ({ event }) => event },
            },
            { target: 'stopped', actions: assign({ error: ({ event }) => event.error }) },
          ],
        },
      },
      hindered: { after: { retry: 'recovering' } },
      idle: {
        after: { untilNextLook: 'claiming' },
        on: {
          wake: 'claiming',
          'xstate.done.actor.job.*': { target: 'claiming', actions: ['forget', 'bury'] },
        },
      },
      claiming: {
        initial: 'once',
        invoke: {
          src: 'claim',
          input: ({ context }) => context.running,
          onDone: [
            {
              guard: stateIn({ claiming: 'last' }),
              target: 'draining',
              actions: [{ type: 'work', params: ({ event }) => event.output }, 'askAllToStop'],
            },
            {
              guard: stateIn({ claiming: 'again' }),
              target: 'claiming',
              reenter: true,
              actions: { type: 'work', params: ({ event }) => event.output },
            },
            { target: 'idle', actions: { type: 'work', params: ({ event }) => event.output } },
          ],
          onError: [
            {
              guard: stateIn({ claiming: 'last' }),
              target: 'draining',
              actions: { type: 'noteFailedLook', params: ({ event }) => event },
            },
            { target: 'failing', actions: { type: 'noteFailedLook', params: ({ event }) => event } },
          ],
        },
        states: {
          once: { on: { wake: 'again', 'xstate.done.actor.job.*': { target: 'again', actions: ['forget', 'bury'] } } },
          again: {},
          last: {},
        },
        on: { stop: { target: '.last', actions: 'askAllToStop' } },
      },
      failing: { after: { retry: 'claiming' } },
      draining: {
        always: { guard: 'nothingRuns', target: 'stopped' },
      },
      stopped: { type: 'final' },
    },
  });
}

function actorIdOf({ no, claim }: { no: number; claim: number }): string {
  return `job.${no}.${claim}`;
}

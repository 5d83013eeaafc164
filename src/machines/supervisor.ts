/**
 * The supervisor's chart. Its shape is the restart strategy: a child's region holds, while the child is alive, the regions
 * of those that depend on it. When a child crashes, its region is left and entered again, which stops and restarts it and
 * everything inside (rest for one), while its siblings go on (one for one).
 *
 *   writer
 *   └─ indexes
 *      ├─ intake
 *      ├─ models
 *      ├─ queries
 *      ├─ retriever
 *      ├─ journal
 *      ├─ watches
 *      ├─ forgetting
 *      ├─ clusters
 *      ├─ events
 *      ├─ metrics
 *      ├─ entities
 *      └─ scheduler
 *   breakers
 *
 * Each region: alive { starting → serving → stopping } ⇄ backoff, ended. `stop` reaches the innermost regions first; a child is
 * asked to stop when all inside it have ended. Beside them a region knows whether a stop was asked for: from then on nothing is
 * started again. More than `maxRestarts` crashes within `withinMs`, or one with a FatalError, stop the system in the same order, into
 * `failed`.
 */
import { assign, raise, setup, stateIn } from 'xstate';
import { FatalError } from '../domain/errors.ts';

/** What needs the indexes, in the order in which it is started. */
export const indexDependants = [
  'intake',
  'models',
  'queries',
  'retriever',
  'journal',
  'watches',
  'forgetting',
  'clusters',
  'events',
  'metrics',
  'entities',
  'scheduler',
] as const;
export const childNames = ['breakers', 'writer', 'indexes', ...indexDependants] as const;
export type ChildName = (typeof childNames)[number];

/** Which children live inside which: the only place that knows. */
const dependants: Partial<Record<ChildName, readonly ChildName[]>> = {
  writer: ['indexes'],
  indexes: indexDependants,
};

export interface RestartPolicy {
  maxRestarts: number;
  withinMs: number;
  backoffMs: number;
}

export interface SupervisorContext {
  policy: RestartPolicy;
  /** Crashes within the last `withinMs`. */
  crashes: number;
  /** Children that serve now. */
  serving: readonly ChildName[];
  /** Why the system failed. */
  reason: unknown;
}

export type SupervisorEvent =
  | { type: 'stop' }
  | { type: `ready.${ChildName}` }
  | { type: `stopped.${ChildName}` }
  | { type: `crashed.${ChildName}`; error: unknown }
  /** A crash is so long past that it does not count any more. */
  | { type: 'crashIsPast' };

const base = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent,
    input: {} as { policy: RestartPolicy },
  },
  guards: {
    isStopping: stateIn({ up: { phase: 'stopping' } }),
    isBeyondRestart: ({ context, event }) =>
      context.crashes >= context.policy.maxRestarts || ('error' in event && event.error instanceof FatalError),
    hasFailed: ({ context }) => context.reason !== undefined,
  },
  actions: {
    noteCrash: assign({ crashes: ({ context }) => context.crashes + 1 }),
    forgetCrashLater: raise({ type: 'crashIsPast' }, { delay: ({ context }) => context.policy.withinMs }),
    stopAll: raise({ type: 'stop' }),
    forgetCrash: assign({ crashes: ({ context }) => context.crashes - 1 }),
    noteServing: assign(({ context }, { child }: { child: ChildName }) => ({
      serving: [...context.serving.filter((name) => name !== child), child],
    })),
    noteGone: assign(({ context }, { child }: { child: ChildName }) => ({
      serving: context.serving.filter((name) => name !== child),
    })),
    noteReason: assign({
      reason: ({ event }) =>
        ('error' in event ? event.error : undefined) ?? new Error('a child crashed without a reason'),
    }),
    askToStop: ({ self }, { child }: { child: ChildName }) => {
      self.getSnapshot().children[child]?.send({ type: 'stop' });
    },
    /** Replaced by the host: tells the log of a crash. */
    reportCrash: (_, _params: { child: ChildName }) => {},
  },
  delays: {
    backoff: ({ context }) => context.policy.backoffMs * 2 ** Math.max(0, context.crashes - 1),
  },
});

type RegionConfig = Parameters<typeof base.createMachine>[0];

/** The region of one child and, inside it, of its dependants. */
function region(child: ChildName): RegionConfig {
  const inner = dependants[child] ?? [];
  const serving =
    inner.length === 0
      ? { on: { stop: 'stopping' } }
      : {
          type: 'parallel',
          states: Object.fromEntries(inner.map((name) => [name, region(name)])),
          onDone: 'stopping',
        };
  const report = { type: 'reportCrash', params: { child } };
  const crash = [
    { guard: 'isStopping', target: 'ended', actions: report },
    { guard: 'isBeyondRestart', target: 'ended', actions: [report, 'noteReason', 'stopAll'] },
    {
      target: 'backoff',
      actions: [report, 'noteCrash', 'forgetCrashLater'],
    },
  ];
  return {
    initial: 'alive',
    states: {
      alive: {
        invoke: { id: child, src: child, onError: crash },
        exit: { type: 'noteGone', params: { child } },
        initial: 'starting',
        states: {
          starting: {
            on: {
              [`ready.${child}`]: { target: 'serving', actions: { type: 'noteServing', params: { child } } },
              stop: 'stopping',
            },
          },
          serving,
          stopping: { entry: { type: 'askToStop', params: { child } } },
        },
        on: {
          [`stopped.${child}`]: 'ended',
          [`crashed.${child}`]: crash,
        },
      },
      backoff: { after: { backoff: 'alive' }, on: { stop: 'ended' } },
      ended: { type: 'final' },
    },
  } as unknown as RegionConfig; // a chart built by recursion is beyond what can be inferred
}

export const supervisorMachine = base.createMachine({
  id: 'supervisor',
  context: ({ input }: { input: { policy: RestartPolicy } }) => ({
    policy: input.policy,
    crashes: 0,
    serving: [],
    reason: undefined,
  }),
  initial: 'up',
  states: {
    up: {
      type: 'parallel',
      states: {
        breakers: region('breakers'),
        writer: region('writer'),
        phase: { initial: 'running', states: { running: { on: { stop: 'stopping' } }, stopping: { type: 'final' } } },
      },
      on: { crashIsPast: { actions: 'forgetCrash' } },
      onDone: [{ guard: 'hasFailed', target: 'failed' }, { target: 'stopped' }],
    },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
} as unknown as RegionConfig);

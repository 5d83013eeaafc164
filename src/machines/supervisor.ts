/**
 * The supervisor's chart. Its shape is the restart strategy: a child's region holds, while the child is alive, the regions
 * of those that depend on it. When a child crashes, its region is left and entered again, which stops and restarts it and
 * everything inside (rest for one), while its siblings go on (one for one).
 *
 *   writer
 *   └─ indexes
 *      ├─ intake
 *      ├─ records
 *      ├─ retriever
 *      └─ scheduler
 *
 * Each region: alive { starting → serving → stopping } ⇄ backoff, ended. `stop` reaches the innermost regions first; a child is
 * asked to stop when all inside it have ended. More than `maxRestarts` crashes within `withinMs` lead to `failed`.
 */
import { assign, setup } from 'xstate';

export const childNames = ['writer', 'indexes', 'intake', 'records', 'retriever', 'scheduler'] as const;
export type ChildName = (typeof childNames)[number];

/** Which children live inside which: the only place that knows. */
const dependants: Record<ChildName, readonly ChildName[]> = {
  writer: ['indexes'],
  indexes: ['intake', 'records', 'retriever', 'scheduler'],
  intake: [],
  records: [],
  retriever: [],
  scheduler: [],
};

export interface RestartPolicy {
  maxRestarts: number;
  withinMs: number;
  backoffMs: number;
}

export interface SupervisorContext {
  policy: RestartPolicy;
  /** Times of the crashes that still count, ms, monotonic. */
  crashes: number[];
  /** Children that serve now. */
  serving: readonly ChildName[];
  /** Why the system failed. */
  reason: unknown;
}

export type SupervisorEvent =
  | { type: 'stop' }
  | { type: `ready.${ChildName}` }
  | { type: `stopped.${ChildName}` }
  | { type: `crashed.${ChildName}`; error: unknown; at: number };

const base = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent,
    input: {} as { policy: RestartPolicy },
  },
  guards: {
    tooManyCrashes: ({ context, event }) => recentCrashes(context, event).length >= context.policy.maxRestarts,
  },
  actions: {
    noteCrash: assign({ crashes: ({ context, event }) => [...recentCrashes(context, event), timeOf(event)] }),
    noteServing: assign(({ context }, { child }: { child: ChildName }) => ({
      serving: [...context.serving.filter((name) => name !== child), child],
    })),
    noteGone: assign(({ context }, { child }: { child: ChildName }) => ({
      serving: context.serving.filter((name) => name !== child),
    })),
    noteReason: assign({ reason: ({ event }) => ('error' in event ? event.error : undefined) }),
    askToStop: ({ self }, { child }: { child: ChildName }) => {
      self.getSnapshot().children[child]?.send({ type: 'stop' });
    },
    /** Replaced by the host: tells the log of a crash. */
    reportCrash: (_, _params: { child: ChildName }) => {},
  },
  delays: {
    backoff: ({ context }) => context.policy.backoffMs * 2 ** Math.max(0, context.crashes.length - 1),
  },
});

type RegionConfig = Parameters<typeof base.createMachine>[0];

/** The region of one child and, inside it, of its dependants. */
function region(child: ChildName): RegionConfig {
  const inner = dependants[child];
  const serving =
    inner.length === 0
      ? { on: { stop: 'stopping' } }
      : {
          type: 'parallel',
          states: Object.fromEntries(inner.map((name) => [name, region(name)])),
          onDone: 'stopping',
        };
  return {
    initial: 'alive',
    states: {
      alive: {
        invoke: { id: child, src: child },
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
          [`crashed.${child}`]: [
            {
              guard: 'tooManyCrashes',
              target: '#supervisor.failed',
              actions: [{ type: 'reportCrash', params: { child } }, 'noteReason'],
            },
            { target: 'backoff', actions: [{ type: 'reportCrash', params: { child } }, 'noteCrash'] },
          ],
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
    crashes: [],
    serving: [],
    reason: undefined,
  }),
  initial: 'up',
  states: {
    up: { type: 'parallel', states: { writer: region('writer') }, onDone: 'stopped' },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
} as unknown as RegionConfig);

function recentCrashes({ crashes, policy }: SupervisorContext, event: SupervisorEvent): number[] {
  const since = timeOf(event) - policy.withinMs;
  return crashes.filter((at) => at > since);
}

function timeOf(event: SupervisorEvent): number {
  return 'at' in event ? event.at : 0;
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { transition } from 'xstate';
import { type BreakerState, breakerStates } from '../../src/domain/admin.ts';
import { type BreakerContext, type BreakerEvent, breakerMachine } from '../../src/machines/breaker.ts';

type EventType = BreakerEvent['type'];

interface Breaker extends BreakerContext {
  state: BreakerState;
}

/** The breaker after an event, or null where its state does not accept the event or the event changes nothing. */
function nextBreaker({ state, ...context }: Breaker, event: BreakerEvent): Breaker | null {
  const before = breakerMachine.resolveState({ value: state, context });
  if (!before.can(event)) return null;
  const [after] = transition(breakerMachine, before, event);
  return { ...after.context, state: after.value };
}

/** What one event does to a breaker of one state under one condition: every field that changes, or null for nothing. */
type Case = readonly [when: string, expected: Partial<Breaker> | null, event?: object, breaker?: Partial<Breaker>];

const at = 50_000;
const policy = { failureThreshold: 3, cooldownMs: 30_000 };

const rows: Record<BreakerState, Breaker> = {
  closed: { state: 'closed', policy, failures: 1, generation: 4, openUntil: 0 },
  open: { state: 'open', policy, failures: 0, generation: 5, openUntil: 60_000 },
  half_open: { state: 'half_open', policy, failures: 0, generation: 6, openUntil: 40_000 },
};

const eventOf = (type: EventType, breaker: Breaker): BreakerEvent =>
  type === 'attempt' ? { type, at } : { type, at, generation: breaker.generation };

const older: Case = ['of a call that began in an older generation', null, { generation: 3 }];
const ignored: Case[] = [['in any case', null], older];
const opened = { state: 'open', failures: 0, generation: 5, openUntil: 80_000 } as const;
const strict = { failureThreshold: 1, cooldownMs: 10 };

const table: Record<BreakerState, Record<EventType, Case[]>> = {
  closed: {
    attempt: [['in any case: let through', {}]],
    succeeded: [
      ['after a failure: the row is over', { failures: 0 }],
      ['after a success', null, {}, { failures: 0 }],
      older,
    ],
    failed: [
      ['not yet the threshold', { failures: 2 }],
      ['the threshold is reached', opened, {}, { failures: 2 }],
      ['a threshold of one', { ...opened, openUntil: 50_010 }, {}, { failures: 0, policy: strict }],
      older,
      ['the threshold would be reached by an older call', null, { generation: 3 }, { failures: 2 }],
    ],
    cancelled: ignored,
  },
  open: {
    attempt: [
      ['the cooldown goes on: refused', null, { at: 59_999 }],
      ['the cooldown is over: the probe', { state: 'half_open', generation: 6 }, { at: 60_000 }],
    ],
    succeeded: ignored,
    failed: ignored,
    cancelled: ignored,
  },
  half_open: {
    attempt: [['the probe is under way: refused', null]],
    succeeded: [['of the probe', { state: 'closed', generation: 7 }], older],
    failed: [['of the probe', { state: 'open', generation: 7, openUntil: 80_000 }], older],
    cancelled: [['of the probe: the next attempt probes', { state: 'open', generation: 7 }], older],
  },
};

for (const state of breakerStates) {
  for (const [type, cases] of Object.entries(table[state]) as [EventType, Case[]][]) {
    for (const [when, expected, event, breaker] of cases) {
      test(`a breaker that is ${state}, ${type}, ${when}: ${expected?.state ?? (expected === null ? 'nothing' : state)}`, () => {
        const before = { ...rows[state], ...breaker };
        const kept = structuredClone(before);
        const after = nextBreaker(before, { ...eventOf(type, before), ...event } as BreakerEvent);
        assert.deepEqual(after, expected === null ? null : { ...before, ...expected });
        assert.deepEqual(before, kept, 'the breaker that was given is left as it was');
      });
    }
  }
}

test('the table knows every state and event of the machine and no other', () => {
  assert.deepEqual(Object.keys(breakerMachine.states).sort(), [...breakerStates].sort());
  assert.deepEqual([...breakerMachine.events].sort(), Object.keys(table.closed).sort());
});

/** A call under way, as the model and the machine see it. */
interface Call {
  generation: number;
  era: number;
  probe: boolean;
}

/** The rules of check C30, written down without a machine: eras instead of generations, a flag for the probe. */
class Model {
  state: BreakerState = 'closed';
  era = 0;
  row = 0;
  openedAt = 0;
  readonly threshold: number;
  readonly cooldownMs: number;

  constructor(threshold: number, cooldownMs: number) {
    this.threshold = threshold;
    this.cooldownMs = cooldownMs;
  }

  attempt(now: number): { probe: boolean } | null {
    if (this.state === 'closed') return { probe: false };
    if (this.state === 'half_open' || now - this.openedAt < this.cooldownMs) return null;
    this.state = 'half_open';
    this.era++;
    return { probe: true };
  }

  end(call: Call, how: 'succeeded' | 'failed' | 'cancelled', now: number): void {
    if (call.era !== this.era) return;
    if (call.probe) {
      this.era++;
      this.state = how === 'succeeded' ? 'closed' : 'open';
      if (how === 'failed') this.openedAt = now;
      this.row = 0;
      return;
    }
    if (how === 'succeeded') this.row = 0;
    if (how === 'failed' && ++this.row >= this.threshold) {
      this.state = 'open';
      this.era++;
      this.row = 0;
      this.openedAt = now;
    }
  }
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('attempts' as const), count: fc.integer({ min: 1, max: 50 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      how: fc.constantFrom('succeeded' as const, 'failed' as const, 'failed' as const, 'cancelled' as const),
      which: fc.nat(),
      count: fc.integer({ min: 1, max: 50 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 45_000 }) }) },
);

test('whatever calls begin and however they end, the machine lets through and refuses what the rules say', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (threshold, walk) => {
      const model = new Model(threshold, 30_000);
      const closed = { state: 'closed', failures: 0, generation: 0, openUntil: 0 } as const;
      let breaker: Breaker = { ...closed, policy: { failureThreshold: threshold, cooldownMs: 30_000 } };
      const running: Call[] = [];
      let now = 0;
      for (const each of walk) {
        if (each.kind === 'wait') now += each.ms;
        for (let i = 0; each.kind === 'attempts' && i < each.count; i++) {
          const admitted = nextBreaker(breaker, { type: 'attempt', at: now });
          const expected = model.attempt(now);
          assert.equal(admitted !== null, expected !== null);
          if (admitted === null || expected === null) continue;
          breaker = admitted;
          running.push({ generation: breaker.generation, era: model.era, probe: expected.probe });
        }
        for (let i = 0; each.kind === 'end' && i < each.count && running.length > 0; i++) {
          const [call] = running.splice(each.which % running.length, 1);
          const event = { type: each.how, at: now, generation: call.generation };
          const before = breaker.state;
          breaker = nextBreaker(breaker, event) ?? breaker;
          model.end(call, each.how, now);
          if (before !== breaker.state) seen.add(`${before} ${breaker.state} by ${each.how}`);
        }
        assert.equal(breaker.state, model.state);
        if (breaker.state === 'closed') assert.equal(breaker.failures, model.row);
        if (breaker.state === 'half_open') {
          assert.equal(running.filter(({ generation }) => generation === breaker.generation).length, 1, 'one probe');
        }
      }
    }),
    { seed: 30, numRuns: 400 },
  );
  const moves =
    'closed open by failed,half_open closed by succeeded,half_open open by cancelled,half_open open by failed';
  assert.equal([...seen].sort().join(), moves);
});

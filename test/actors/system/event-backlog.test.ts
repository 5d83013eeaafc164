import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventBacklog } from '../../../src/actors/system/events.ts';

test('every reader gets what was appended since it joined, in order, whatever the others do', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 0, max: 1500 }) }),
    fc.record({ do: fc.constant('join' as const), count: fc.constant(1) }),
    fc.record({ do: fc.constant('take' as const), count: fc.nat(5) }),
    fc.record({ do: fc.constant('leave' as const), count: fc.nat(5) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const backlog = new EventBacklog();
      let appended = 0;
      const readers: { place: ReturnType<EventBacklog['join']>; expected: number }[] = [];
      for (const each of steps) {
        if (each.do === 'append') {
          backlog.append(Array.from({ length: each.count }, (_, i) => `${appended + i};`));
          appended += each.count;
        } else if (each.do === 'join') {
          readers.push({ place: backlog.join(), expected: appended });
        } else {
          const reader = readers[each.count];
          if (reader === undefined) continue;
          if (each.do === 'leave') {
            backlog.leave(reader.place);
            readers.splice(each.count, 1);
            continue;
          }
          const waiting = backlog.waiting(reader.place);
          assert.equal(waiting, appended - reader.expected);
          const taken = backlog.take(reader.place, 100).split(';').slice(0, -1).map(Number);
          assert.deepEqual(
            taken,
            Array.from(taken, (_, i) => reader.expected + i),
          );
          assert.ok(taken.length > 0 || waiting === 0);
          reader.expected += taken.length;
        }
      }
      if (readers.length === 0) assert.equal(backlog.length, 0);
    }),
  );
});

test('what every reader has is not held any longer', () => {
  const backlog = new EventBacklog();
  const [fast, slow] = [backlog.join(), backlog.join()];
  for (let i = 0; i < 5000; i++) {
    backlog.append(['0123456789']);
    backlog.take(fast, 1);
  }
  assert.equal(backlog.length, 50_000);
  assert.equal(backlog.slowest(), slow);
  backlog.leave(slow);
  assert.equal(backlog.length, 0);
});

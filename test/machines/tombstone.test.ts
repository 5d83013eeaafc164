import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tombstone, type TombstoneState, tombstoneStates } from '../../src/domain/blacklist.ts';
import { newTombstone, nextTombstone, type TombstoneEvent, tombstoneMachine } from '../../src/machines/tombstone.ts';
import { pageRow } from './rows.ts';

const events: { [Type in TombstoneEvent['type']]: Extract<TombstoneEvent, { type: Type }> } = {
  assigned: { type: 'assigned', job_no: 9 },
  purged: { type: 'purged' },
  rewritten: { type: 'rewritten' },
  late: { type: 'late', first_label: 70, chunk_count: 3 },
};
const labels = { first_label: 70, chunk_count: 3 };

/** What an event changes, null where it is refused. */
const table: Record<TombstoneState, Record<TombstoneEvent['type'], Partial<Tombstone> | null>> = {
  pending: { assigned: { job_no: 9 }, purged: { state: 'deleted' }, rewritten: null, late: labels },
  deleted: { assigned: null, purged: null, rewritten: { state: 'verified' }, late: labels },
  verified: { assigned: null, purged: null, rewritten: null, late: { ...labels, state: 'deleted' } },
};

const fresh = newTombstone(pageRow({ first_label: 40, chunk_count: 2 }), 700);

test('a page that is forgotten has a tombstone which waits for a purge job', () => {
  const numbers = { page_no: 5, job_no: 0, first_label: 40, chunk_count: 2, forgotten_at: 700 };
  assert.deepEqual(fresh, { ...numbers, state: 'pending' });
});

for (const state of tombstoneStates) {
  for (const event of Object.values(events)) {
    const changes = table[state][event.type];
    test(`a tombstone that is ${state}, ${event.type}: ${changes === null ? 'refused' : JSON.stringify(changes)}`, () => {
      const before = { ...fresh, state };
      assert.deepEqual(nextTombstone(before, event), changes === null ? null : { ...before, ...changes });
    });
  }
}

test('the table knows every state and event of the machine and no other', () => {
  assert.deepEqual(Object.keys(tombstoneMachine.states).sort(), [...tombstoneStates].sort());
  assert.deepEqual([...tombstoneMachine.events].sort(), Object.keys(events).sort());
});

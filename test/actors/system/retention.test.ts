import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysAhead, openRetention } from '../../../src/actors/system/retention.ts';
import { appendRuns } from '../../../src/commands/log-queries.ts';
import { dayMs, hourMs } from '../../../src/domain/durations.ts';
import { queryRun } from '../../store/query-runs.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';
import { keptLog } from '../quiet-log.ts';

const began = 1000 * dayMs;

/** What happens, and whether old rows may be deleted after it. */
type Step =
  | { wait: number; clock?: number; deletes: boolean }
  | { restart: number; deletes: boolean }
  | { event: 'search' };

const cases: Record<string, Step[]> = {
  'a new store trusts the clock': [{ wait: 0, deletes: true }],
  'a clock that goes on': [
    { wait: 0, deletes: true },
    { wait: hourMs, deletes: true },
    { restart: 6 * dayMs, deletes: true },
  ],
  'a start 90 days ahead waits for 24 hours of running, over all starts': [
    { wait: 0, deletes: true },
    { restart: 90 * dayMs, deletes: false },
    { wait: 20 * hourMs, deletes: false },
    { restart: 0, deletes: false },
    { wait: 3 * hourMs, deletes: false },
    { wait: 1 * hourMs, deletes: true },
    { restart: 0, deletes: true },
  ],
  'a clock that jumps ahead while the service runs, and back': [
    { wait: 0, deletes: true },
    { wait: hourMs, clock: 90 * dayMs, deletes: false },
    { wait: hourMs, clock: -90 * dayMs, deletes: true },
    { wait: hourMs, clock: 8 * dayMs, deletes: false },
  ],
  'a clock that was set back, and is right again later': [
    { wait: 0, deletes: true },
    { restart: -400 * dayMs, deletes: true },
    { restart: 400 * dayMs, deletes: false },
  ],
  'a store from before the clock was noted: its newest search counts': [
    { event: 'search' },
    { restart: 8 * dayMs, deletes: false },
  ],
};

for (const [name, steps] of Object.entries(cases)) {
  test(`retention: ${name}`, async () => {
    await using temporary = await TemporaryStore.open();
    const { log, lines } = keptLog();
    let [wall, monotonic] = [began, 0];
    const open = () =>
      openRetention({
        reader: temporary.reader,
        commit: ((command: Parameters<typeof temporary.commit>[0]) => temporary.commit(command)) as never,
        log,
        now: () => wall,
        monotonic: () => monotonic,
      });
    let oldBefore = open();
    for (const step of steps) {
      if ('event' in step) {
        await temporary.commit(appendRuns([queryRun({ query_id: 'qr_1', ts: wall })]));
        continue;
      }
      if ('restart' in step) {
        wall += step.restart;
        await temporary.reopen();
        oldBefore = open();
      } else {
        monotonic += step.wait;
        wall += step.wait + (step.clock ?? 0);
      }
      const told = lines.length;
      assert.equal(await oldBefore(30), step.deletes ? wall - 30 * dayMs : null, JSON.stringify(step));
      assert.equal(daysAhead(temporary.reader, wall) === null, step.deletes, JSON.stringify(step));
      await oldBefore(30);
      assert.ok(lines.length - told <= 1, 'a change is logged once');
    }
    const waits = steps.some((step) => 'deletes' in step && !step.deletes);
    const isTold = lines.some(({ msg }) => /days ahead of the last event/.test(msg));
    assert.equal(isTold, waits);
  });
}

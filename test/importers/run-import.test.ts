import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterBatch, type ItemOutcome, outcomeOf, skipReason } from '../../src/compute/import-progress.ts';
import type { FailedItem, ImportCheckpoint } from '../../src/domain/import.ts';
import { itemOf } from '../../src/importers/item-parts.ts';
import { type ImportTarget, runImport, submissionOf } from '../../src/importers/run-import.ts';

/** A target that refuses everything or nothing, and notes how many items each batch has. */
class CountingTarget implements ImportTarget {
  readonly maxItems = 100;
  readonly batches: number[] = [];
  refusing = true;
  #checkpoint: ImportCheckpoint | undefined;
  #failures: FailedItem[] = [];

  async load() {
    return this.#checkpoint;
  }

  async failures() {
    return this.#failures;
  }

  async restart() {
    this.#checkpoint = undefined;
  }

  async take(...[before, batch]: Parameters<ImportTarget['take']>) {
    if (batch.items.length > 0) this.batches.push(batch.items.length);
    const outcome: ItemOutcome = this.refusing ? { outcome: 'failed', reason: 'not today' } : { outcome: 'accepted' };
    const outcomes = batch.items.map(() => outcome);
    const { checkpoint, failures, mended } = afterBatch(before, batch, outcomes, 0);
    this.#failures = [...this.#failures, ...failures].filter(({ place }) => !mended.includes(place));
    this.#checkpoint = checkpoint;
    return checkpoint;
  }
}

test('a batch ends before saved pages make it too large, also where what failed is tried again', async () => {
  const target = new CountingTarget();
  const page = 'x'.repeat(5 * 2 ** 20);
  const run = (mode: 'resume' | 'retry-failed') =>
    runImport({
      source: {
        format: 'karakeep',
        id: 'source',
        isHistory: false,
        columns: [],
        isOwn: false,
        leftOut: async () => ({}),
        async *items() {
          for (let no = 0; no < 5; no++) yield itemOf({ url: `https://site.example/${no}`, body_html: page });
        },
      },
      target,
      options: { since: null, min_visits: 1 },
      mode,
      now: () => 0,
      signal: new AbortController().signal,
    });
  const first = await run('resume');
  assert.deepEqual([first.counts.failed, target.batches], [5, [2, 2, 1]]);
  target.refusing = false;
  const retried = await run('retry-failed');
  assert.deepEqual([retried.counts.failed, retried.counts.accepted], [0, 5]);
  assert.deepEqual(target.batches, [2, 2, 1, 2, 2, 1]);
});

test('an address that is too long is left out and counted; a title is cut to what a page may have', () => {
  const everything = { since: null, min_visits: 1 };
  const longest = `https://site.example/${'x'.repeat(8192 - 21)}`;
  assert.equal(skipReason(itemOf({ url: longest }), everything), null);
  assert.equal(skipReason(itemOf({ url: `${longest}x` }), everything), 'an address of more than 8192 characters');
  const { title } = itemOf({ url: longest, title: `${'t'.repeat(4095)}🜨 and more` });
  assert.equal(title, `${'t'.repeat(4095)}\ufffd`);
});

test('only an own file itself replaces its text, and no other item is submitted so that it would', () => {
  const url = 'http://files.localhost/notes/diary.md';
  const revisit = (content_hash_differs: boolean) => ({ outcome: 'revisit', content_hash_differs }) as const;
  for (const [item, differs, outcome, once] of [
    [{ url, is_own: true }, true, 'replaced', true],
    [{ url, is_own: true }, false, 'unchanged', true],
    [{ url, is_own: false }, true, 'failed', undefined],
    [{ url }, false, 'unchanged', undefined],
    [{ url: 'https://notes.example/diary' }, true, 'revisit', true],
  ] as const) {
    const whole = { ...itemOf({ url: item.url }), ...item };
    assert.equal(outcomeOf(whole, revisit(differs)).outcome, outcome);
    assert.equal(submissionOf(whole, 'import:json').once, once);
  }
});

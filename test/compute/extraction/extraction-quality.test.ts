/** Extraction over pages that people have marked up, and the measure that says how good it is. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { lostBlocks, meanScore, scorePage } from '../../../bench/extraction/score.ts';
import { extractHtml } from '../../../src/compute/extraction/extract-html.ts';

test('the measure counts shingles of four words, as often as they occur', () => {
  assert.deepEqual(scorePage('a b c d e', 'a b c d e'), { precision: 1, recall: 1 });
  assert.deepEqual(scorePage('a b c d e', 'a b c d x'), { precision: 0.5, recall: 0.5 });
  assert.deepEqual(scorePage('a b c d', 'a b c d a b c d'), { precision: 1 / 5, recall: 1 });
  assert.deepEqual(scorePage('a b c d', ''), { precision: 1, recall: 0 });
  assert.deepEqual(scorePage('Case', 'case'), { precision: 0, recall: 0 });
  const paragraph = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
  assert.deepEqual(lostBlocks(`short\n${paragraph}`, paragraph.slice(0, 250)), []);
  assert.deepEqual(lostBlocks(`short\n${paragraph}`, paragraph.slice(0, 100)), [paragraph]);
  const { f1 } = meanScore([
    { precision: 1, recall: 0.5 },
    { precision: 0.5, recall: 0.5 },
  ]);
  assert.equal(f1, (2 * 0.75 * 0.5) / 1.25);
});

/** One of so many pages is tried; all of them with `npm run soak -- --only extraction`. */
const each = process.env.READBACK_TEST_ALL_PAGES === '1' ? 1 : 9;

test('articles are found without what is around them, and no paragraph of them is lost', (t) => {
  const folder = join(import.meta.dirname, '../../../../shared/data/html');
  if (!existsSync(folder)) return t.skip(`no test data in ${folder}`);
  const pages: { file: string; url: string; articleBody: string }[] = readFileSync(
    join(folder, 'ground-truth.jsonl'),
    'utf8',
  )
    .trim()
    .split('\n')
    .filter((_, at) => at % each === 0)
    .map((line) => JSON.parse(line));
  const scores = pages.map(({ file, url, articleBody }) => {
    const { text } = extractHtml(gunzipSync(readFileSync(join(folder, file))).toString('utf8'), url);
    assert.deepEqual(lostBlocks(articleBody, text), [], file);
    return scorePage(articleBody, text);
  });
  const { f1, precision, recall } = meanScore(scores);
  t.diagnostic(`F1 ${f1.toFixed(4)}, precision ${precision.toFixed(4)}, recall ${recall.toFixed(4)}`);
  assert.ok(f1 >= 0.98 && precision >= 0.965 && recall >= 0.99);
});

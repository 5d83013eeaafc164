/** Queries are cut by rules and texts by wink: what both make of the same stretch has to be found by the same terms. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../../../src/compute/text/rule-tokenizer.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const byWink = createTextAnalyzer(createWinkTokenizer);
const byRules = createTextAnalyzer(createRuleTokenizer);

test('people find by rules what wink has made of the same words', () => {
  const words =
    `cannot can't don't dont Doesnt Ive theyll who's barq's women’s boys' 's 'tis o'clock rock'n'roll y'all O'Brien l'eau
    U.S. u.s. U.S.-based e.g. (i.e., etc. Mr. Ph.D. a.m. node.js foo.bar 1.5 1,299.99 v3.11.4 11.22.63 8,5 2:30pm 10am 24/7 9/11
    3D 4K 4x4 9x19 5.56×45mm 18TH 6th 111th 70s 1980s 19s 1980er-Jahren 700c 29ers 221B 0x1f 6c3hed ww2 mp3 F-16 covid-19
    e-mail x-ray state-of-the-art emt-basic cow's-milk solution--i.e., zero/one and/or AT&T c&a C++ c# foo() x=y a+b 100+ $10 10%
    ¿Cuántos „Fog „die” (iii) "training" what? ones. Brother"? … . ? & #tag @bob snake_case https://docs.example.com/a_b?page=2
    me@example.org Łódź Привет? है? किया? straße İstanbul naïve œuvre 1–2 −27i √3 β-blocker`.split(/\s+/);
  for (const word of words) assert.deepEqual(byRules.terms(word).stems, byWink.terms(word).stems, word);
  assert.deepEqual(byRules.terms(words.join(' ')).stems, byWink.terms(words.join(' ')).stems);
});

const folder = join(import.meta.dirname, '../../../../shared/data/ir');
test('of the words of real queries and passages one in ten thousand has other terms', {
  skip: existsSync(folder) ? false : 'there is no shared data',
}, () => {
  const counts = new Map<string, number>();
  let total = 0;
  for (const name of readdirSync(folder)) {
    for (const file of ['queries.jsonl', 'corpus.jsonl']) {
      const lines = readFileSync(join(folder, name, file), 'utf8')
        .split('\n')
        .slice(0, 40);
      for (const line of lines.filter((each) => each !== '')) {
        const { text }: { text: string } = JSON.parse(line);
        for (const word of text.split(/\s+/)) {
          total++;
          counts.set(word, (counts.get(word) ?? 0) + 1);
        }
      }
    }
  }
  const others = [...counts].filter(
    ([word]) => byRules.terms(word).stems.join(' ') !== byWink.terms(word).stems.join(' '),
  );
  const share = others.reduce((sum, [, count]) => sum + count, 0) / total;
  assert.ok(total > 15_000, String(total));
  assert.ok(share <= 1e-4, `${share}: ${others.slice(0, 100).join(' ')}`);
});

test('a stretch of any kind takes time in proportion to its length', () => {
  for (const unit of ['a', '1', "'", '.', '1.', "a'", 'a-', '1a', '$1', 'a.', '\u0301']) {
    const tokenize = createRuleTokenizer();
    assertGrowsInProportion(
      32_000,
      (size) => unit.repeat(size / unit.length),
      (stretch) => tokenize([stretch]),
    );
  }
});

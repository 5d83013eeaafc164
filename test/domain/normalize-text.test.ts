/** Text of others is normalised in one place, in time that is linear in its length. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { eachCharacter, findUnspacedRuns, foldAccents } from '../../src/compute/text/scripts.ts';
import { createTopicTerms } from '../../src/compute/text/topic-words.ts';
import { createWordTerms } from '../../src/compute/text/word-terms.ts';
import { foldName, foldTitle, normalizeText } from '../../src/domain/normalize-text.ts';
import { pluck } from '../rows.ts';

const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const;

/** The longest run of marks, in what `use` gives to the platform to be normalised. */
function longestRunNormalised(use: () => void): number {
  let longest = 0;
  const { normalize } = String.prototype;
  const watched = mock.method(String.prototype, 'normalize', function (this: string, form?: string) {
    for (const [run] of this.matchAll(/(?:(?!\u034f)[\p{M}\uff9e\uff9f]){1,1000}/gu))
      longest = Math.max(longest, run.length);
    return normalize.call(this, form);
  });
  try {
    use();
  } finally {
    watched.mock.restore();
  }
  return longest;
}

test('no run of more than thirty marks is normalised, whoever asks', () => {
  const words = createWordTerms((word) => word);
  const users: Record<string, (text: string) => unknown> = {
    foldTitle,
    foldName,
    foldAccents,
    words,
    characters: (text) => {
      for (const run of findUnspacedRuns(text)) eachCharacter(text, run, () => undefined);
    },
    ...Object.fromEntries(forms.map((form) => [form, (text: string) => normalizeText(text, form)])),
  };
  const hostile = ['a\u0301\u0316', '漢\u0301\u0316', '漢\u3099\u302a', 'カ\u0301\uff9e', 'a\u0f73\u0344'];
  for (const [name, use] of Object.entries(users)) {
    for (const [first, ...marks] of hostile) {
      const longest = longestRunNormalised(() => use(`${first}${marks.join('').repeat(200)}`));
      assert.ok(longest <= 30, `${name}: ${longest} of ${JSON.stringify(marks)}`);
    }
  }
});

test('marks that come in any number stay, each thirty apart from the next', () => {
  const marks = '\u0301\u0316'.repeat(40);
  for (const form of forms) {
    const normalised = normalizeText(`x${marks}`, form);
    assert.equal([...normalised.matchAll(/[\u0301\u0316]/g)].length, marks.length, form);
    assert.equal([...normalised.matchAll(/\u034f/g)].length, 2, form);
    assert.equal(normalizeText(normalised, form), normalised, form);
  }
});

test('text as people write it is normalised as the platform does', () => {
  const texts = [
    'Ångström, ﬁne, ½, ①',
    'Tiếng Việt có dấu',
    'Łódź, İstanbul, ΌΣΟΣ',
    'שָׁלוֹם עֲלֵיכֶם',
    'بِسْمِ ٱللَّٰهِ',
    'ｶﾞｷﾞｸﾞ がぎぐ 東京タワー',
    '한국어 각',
    'ที่นี่ กำลัง น้ำ',
    'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘',
    `a${'\u0301\u0316'.repeat(15)}`,
  ];
  for (const text of texts) {
    for (const form of forms) assert.equal(normalizeText(text.repeat(9), form), text.repeat(9).normalize(form));
  }
  const anything = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(anything, fc.constantFrom(...forms), (text, form) => {
      assert.equal(normalizeText(text, form), text.normalize(form));
    }),
  );
});

test('words of scripts without spaces are looked for in pieces, and are the same', () => {
  const lengths: number[] = [];
  const { segment } = Intl.Segmenter.prototype;
  const watched = mock.method(Intl.Segmenter.prototype, 'segment', function (this: Intl.Segmenter, text: string) {
    lengths.push(text.length);
    return segment.call(this, text);
  });
  const termsOf = createTopicTerms((word) => word);
  termsOf('漢字'.repeat(5000), '');
  assert.ok(Math.max(...lengths) <= 1024, `${Math.max(...lengths)} characters at once`);
  watched.mock.restore();

  const text = '私は昨日、東京タワーに行きました。コンピューターの歴史は長い・国際連合の総会が開かれた。'.repeat(50);
  const whole = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)]
    .filter((word) => word.isWordLike === true && word.segment.length >= 2)
    .map((word) => word.segment);
  assert.deepEqual(pluck(termsOf(text, ''), 'surface'), whole);
});

test('nothing else in the sources normalises', () => {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  const users = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => /\.normalize\b/.test(readFileSync(`${src}${file}`, 'utf8')));
  assert.deepEqual(users, ['domain/normalize-text.ts']);
});

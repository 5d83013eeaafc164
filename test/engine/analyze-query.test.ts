import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../../src/compute/text/rule-tokenizer.ts';
import { createQueryAnalyzer } from '../../src/engine/analyze-query.ts';
import { addressTerm, pathWord } from '../../src/engine/words/marked-terms.ts';
import { noWords } from './words/small-corpus.ts';

const analyze = createQueryAnalyzer(createTextAnalyzer(createRuleTokenizer));

const sharesIn = (forms: ReturnType<typeof analyze>['forms']) => forms.map(({ stem, share = 1 }) => `${stem} ${share}`);
test('stop words of other languages weigh little, are no words of the query, and are not searched for alone', () => {
  const library = { ...noWords, languages: ['pt'], spoken: ['pt'] };
  const sharesOf = (...known: string[]) => {
    const { forms } = analyze({ query: 'a sinfonia' }, { ...library, isKnown: (stem) => known.includes(stem) });
    return forms.map(({ stem, of, share = 1 }) => `${stem} ${of} ${share}`).join();
  };
  assert.equal(sharesOf('sinfon', 'sinfonia', 'a'), 'sinfon 0 1,sinfonia 0 1,a -1 0.2');
  assert.equal(sharesOf('a'), 'sinfon 0 1,sinfonia 0 1');
});

test('a pair of characters of two words weighs half', () => {
  const { forms } = analyze({ query: '東京の人口' }, { ...noWords, languages: ['ja'], spoken: ['ja'] });
  const [town, people] = ['東京', '人口'].map((word) => [`${word} 1`, `${addressTerm(pathWord(word))} 0.5`]);
  assert.deepEqual(sharesIn(forms), [...town, '京の 0.5', 'の人 0.5', ...people]);
});

test('an unknown word that is repeated is looked for once', () => {
  const asked: string[] = [];
  const nearest = (word: string) => {
    asked.push(word);
    return null;
  };
  analyze({ query: 'zzqx '.repeat(50) }, { ...noWords, isKnown: () => false, nearest });
  assert.deepEqual(asked, ['zzqx']);
});

test('only the word that is typed goes on to others; one is replaced only where no text has it, and is told; what is exact weighs most', () => {
  const corpus = ['cat', 'catalogue', 'minecraft', 'mineur', 'postgresql', 'bread'];
  const word = (text: string) => ({ word: text, stem: text, row: -1 });
  const known = {
    ...noWords,
    languages: ['en'],
    spoken: ['en'],
    isKnown: (stem: string) => corpus.includes(stem),
    completions: (start: string) => corpus.filter((each) => each !== start && each.startsWith(start)).map(word),
    nearest: (of: string) => {
      const meant = { braed: 'bread', mineurr: 'mineur', minecr: 'minecraft', postgre: 'postgresql' }[of];
      return meant === undefined ? null : word(meant);
    },
  };
  const rows: [query: string, options: object, searched: string, corrected?: string][] = [
    ['cat', {}, 'cat 1'],
    ['cat', { prefix: true }, 'cat 1,catalogue 0.05'],
    ['cata', { prefix: true }, 'catalogue 0.8'],
    ['cata', {}, 'cata 1'],
    ['cata minec', { prefix: true }, 'cata 1,minecraft 0.8'],
    ['ca', {}, 'ca 1'],
    ['ca', { prefix: true }, 'cat 0.8,catalogue 0.6'],
    ['ca ', { prefix: true }, 'ca 1'],
    ['minecr', {}, 'minecraft 0.9', 'minecr minecraft'],
    ['minecr', { prefix: true }, 'minecraft 0.8'],
    ['minecr ', { prefix: true }, 'minecraft 0.9', 'minecr minecraft'],
    ['minecr', { spelling: false }, 'minecr 1'],
    ['minecr', { spelling: false, prefix: true }, 'minecraft 0.8'],
    ['mineurr', {}, 'mineur 0.9', 'mineurr mineur'],
    ['postgre bread', {}, 'postgresql 0.9,bread 1', 'postgre postgresql'],
    ['braed', {}, 'bread 0.9', 'braed bread'],
    ['braed', { spelling: false }, 'bra 1'],
  ];
  for (const [query, options, searched, corrected = ''] of rows) {
    const { forms, corrected: found } = analyze({ query, ...options }, known);
    assert.equal(sharesIn(forms).join(), searched, `${query} ${JSON.stringify(options)}`);
    assert.equal(found.map((each) => [each.word, ...each.taken].join(' ')).join(), corrected, query);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentWords, OF_NONE } from '../../../src/compute/ranking/query-terms.ts';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { isBareTerm } from '../../../src/compute/text/stemmers.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { pluck } from '../../rows.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const wordsOf = (query: string, ...languages: string[]) => contentWords(analyzer.terms(query), languages);
const termsOf = (query: string, ...languages: string[]) =>
  wordsOf(query, ...languages).words.flatMap(({ stems }) => stems);

test('a query is searched for by what it is about; one of function words alone keeps them all', () => {
  const rows: Record<string, string> = {
    "What's the effect of heat on the wings, and why don't they break?": 'effect heat wing break',
    "l'avenue d’Italie dell'arte": 'avenu itali art', // without elided articles
    'to be or not to be': 'to be or not to be',
    'the who': 'the who',
    'may will mine of us us': 'may will mine us us', // names as often, and repeated
  };
  for (const [query, terms] of Object.entries(rows)) assert.equal(termsOf(query).join(' '), terms, query);
});

test('nothing comes of nothing', () => {
  for (const text of ['', '.']) assert.deepEqual(wordsOf(text, 'de'), { language: 'de', words: [], stopWords: [] });
});

test('a query is in the language of its function words, the commonest of the library where these say nothing', () => {
  const languageOf = (query: string, ...languages: string[]) => wordsOf(query, ...languages).language;
  assert.equal(languageOf('wer war der erste König von Preußen', 'en', 'de', 'es'), 'de');
  assert.equal(languageOf('¿Cuándo fue la batalla de Puebla?', 'en', 'de', 'es'), 'es');
  assert.equal(languageOf('who was the first king of Prussia', 'de', 'en'), 'en');
  assert.equal(languageOf('Die Hard', 'en', 'de'), 'en');
  assert.equal(languageOf('la la land', 'en', 'fr'), 'en');
  assert.equal(languageOf('Preußen', 'de', 'en'), 'de');
  assert.equal(languageOf('Preußen'), 'en');
});

test('a word has its stem in every language of the library, that of the query first', () => {
  const { words } = wordsOf('die Möglichkeiten der Häuser', 'en', 'de');
  assert.equal(words.map(({ stems }) => stems.join()).join(' '), 'moglich,moglichkeiten haus,hauser');
  assert.deepEqual(termsOf('haeuser', 'de'), ['haus', 'haeuser'], 'and in English: a passage may tell no language');
  assert.equal(termsOf('informacion', 'es')[0], termsOf('información', 'es')[0]);
});

test('words that share a stem are one word', () => {
  assert.deepEqual(pluck(wordsOf('Haus Häuser Dach', 'de').words, 'of'), [0, 0, 1]);
});

test('Vietnamese is searched for as it is typed, and without any accents by the letters alone', () => {
  const [marked] = termsOf('phở', 'vi');
  const [bare] = termsOf('pho', 'vi');
  assert.equal(marked, 'phở');
  assert.ok(isBareTerm(bare), bare);
  assert.deepEqual(termsOf('Việt Nam', 'vi'), ['việt', 'nam']);
});

test('English words within texts of other letters are stemmed as English ones', () => {
  assert.deepEqual(termsOf('книги running', 'ru'), ['книг', 'книги', 'run']);
});

test('stop words of other languages than English are set apart, as their lists have words that mean something; articles without their vowel are not', () => {
  const setApart = (query: string, language: string) => wordsOf(query, language).stopWords;
  assert.deepEqual(setApart('a última sinfonia', 'pt'), [
    { word: 'a', stems: ['a'], of: OF_NONE },
    { word: 'última', stems: ['ultim', 'ultima'], of: OF_NONE },
  ]);
  assert.deepEqual(termsOf('a última sinfonia', 'pt').slice(0, 1), ['sinfon']);
  assert.deepEqual(pluck(setApart("l'eau de mer", 'fr'), 'word'), ['de']);
  const alone = [...setApart('the end of the sea', 'en'), ...setApart('o grupo', 'pt')];
  assert.deepEqual(alone, [], 'of these alone all are words');
});

test('of characters that are searched for by pairs, a pair of two words is none, and an ideograph that is a word is one', () => {
  const found = (query: string, language = 'ja') =>
    wordsOf(query, language).words.map(({ stems: [stem], of }) => `${stem}${of === OF_NONE ? ' across' : ''}`);
  assert.deepEqual(found('東京の人口'), ['東京', '京の across', 'の人 across', '人口']);
  assert.deepEqual(found('犬、猫の名前'), ['犬', '猫の across', '猫', 'の名 across', '名前']);
  assert.equal(found('中國的市', 'zh').at(-1), '市', 'also the last, which has no pair');
  assert.deepEqual([...found('サル'), ...found('서울의 인구', 'ko')], ['サル', '서울', '울의', '인구']);
});

test('where no word is left, pairs of two words are words', () => {
  assert.ok(wordsOf('がの', 'ja').words.every(({ of }) => of !== OF_NONE));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstAtLeast } from '../../../src/compute/structures/sorted-search.ts';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { languageOfTag, languages } from '../../../src/compute/text/language-tags.ts';
import { decideLanguages, languageOfPassage, loadDetectors } from '../../../src/compute/text/page-languages.ts';
import { bareTerm, isBareTerm, stemIn } from '../../../src/compute/text/stemmers.ts';
import { stopWordsOf } from '../../../src/compute/text/stop-words.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { textsInLanguages } from './texts-in-languages.ts';

await loadDetectors();
const analyzer = createTextAnalyzer(createWinkTokenizer);

const english = textsInLanguages.en;
const german = textsInLanguages.de;

/** A page whose passages are its paragraphs. */
function decide(paragraphs: readonly string[], { title = '', declared = null as string | null } = {}) {
  const text = analyzer.analyze(paragraphs.join('\n\n'));
  let end = 0;
  const passages = paragraphs.map((paragraph) => {
    const start = text.text.indexOf(paragraph, end);
    end = start + paragraph.length;
    return { token_from: firstAtLeast(text.starts, start), token_to: firstAtLeast(text.starts, end) };
  });
  const languages = decideLanguages(text, analyzer.analyze(title), passages, declared);
  const ofPassages = passages.map((passage) => languageOfPassage(text, passage, languages.passage_languages));
  return { ...languages, ofPassages };
}

/** Codes of languages that are written so much alike that one counts as the other. */
const alike: Readonly<Record<string, string>> = { no: 'da', id: 'ms', hr: 'sr', bs: 'sr' };
const sameLanguage = (a: string, b: string) => (alike[a] ?? a) === (alike[b] ?? b);

test('the language of a text of 200 characters is right or unknown, and hardly ever unknown if it is one of those kept apart', () => {
  const decided = Object.entries(textsInLanguages).map(([own, text]) => {
    assert.ok(text.length >= 200, own);
    return { own, language: decide([text]).language };
  });
  const mistaken = decided.filter(({ own, language }) => language !== null && !sameLanguage(language, own));
  assert.deepEqual(mistaken, []);
  const keptApart = decided.filter(({ own }) => languageOfTag(own) !== '');
  assert.ok(keptApart.length >= 45);
  const unknown = keptApart.filter(({ language }) => language === null);
  assert.ok(unknown.length <= 2, unknown.map(({ own }) => own).join());
});

test('a declared language counts unless the text is clearly in another', () => {
  const { de, gl, ga, no, am } = textsInLanguages;
  for (const { text, declared, language, passages = [] } of [
    { text: '', declared: 'fr-CA', language: 'fr-CA', passages: ['fr'] },
    { text: '12 34', declared: 'fr', language: 'fr', passages: ['fr'] },
    { text: 'Halibut', declared: 'fr', language: 'fr', passages: ['fr'] },
    { text: 'Hacker News', declared: null, language: null },
    { text: german, declared: null, language: 'de', passages: ['de'] },
    { text: german, declared: 'de-AT', language: 'de-AT', passages: ['de'] },
    { text: german, declared: 'en-US', language: 'de', passages: ['de'] },
    { text: german, declared: 'la', language: 'de', passages: ['de'] },
    { text: no, declared: 'da', language: 'da', passages: ['da'] },
    { text: am, declared: 'am', language: 'am', passages: ['am'] },
    { text: gl, declared: 'gl', language: 'gl' },
    { text: gl, declared: null, language: null },
    { text: ga, declared: 'ga', language: 'ga' },
    { text: ga, declared: 'en', language: null },
    { text: de.slice(0, 40), declared: 'sv', language: 'sv', passages: ['sv'] },
  ]) {
    const { language: decided, passage_languages } = decide([text], { declared });
    assert.deepEqual([decided, passage_languages], [language, passages], `${declared}: ${text.slice(0, 30)}`);
  }
});

test('a page without words is in the language of its title', () => {
  assert.equal(decide([''], { title: german }).language, 'de');
  assert.equal(decide([''], { title: german, declared: 'fr' }).language, 'fr');
});

test('a page in two languages has both, that of most passages first, and each passage its own', () => {
  const { ja, ka } = textsInLanguages;
  for (const { paragraphs, languages, ofPassages = languages } of [
    { paragraphs: [english, german], languages: ['en', 'de'] },
    { paragraphs: [english, german, german], languages: ['de', 'en'], ofPassages: ['en', 'de', 'de'] },
    { paragraphs: [english, 'Herr Ober'], languages: ['en'], ofPassages: ['en', 'en'] },
    { paragraphs: [english, ja], languages: ['en', 'ja'] },
    { paragraphs: [ka, english], languages: ['ka', 'en'] },
    { paragraphs: ['1 2 3 4 5 6 7 8 '.repeat(30), german], languages: ['de'], ofPassages: ['de', 'de'] },
  ]) {
    const decided = decide(paragraphs);
    assert.deepEqual([decided.passage_languages, decided.ofPassages], [languages, ofPassages]);
  }
  assert.deepEqual(decide([english, german], { declared: 'de' }).passage_languages, ['en', 'de']);
});

test('words have the stems of their language, accents folded', () => {
  const stems = (language: string, ...words: string[]) => words.map((word) => stemIn(language, word));
  assert.deepEqual(stems('de', 'häuser', 'haeuser', 'haus', 'hausern'), ['haus', 'haus', 'haus', 'haus']);
  assert.deepEqual(stems('de', 'straße', 'strasse', 'quelle'), ['strass', 'strass', 'quell']);
  assert.deepEqual(stems('de', 'frauen', 'neue', 'bauen'), ['frau', 'neu', 'bau']);
  assert.deepEqual(stems('es', 'información', 'informacion', 'informaciones'), ['inform', 'inform', 'inform']);
  assert.deepEqual(stems('pt', 'informação', 'informacao'), ['inform', 'inform']);
  assert.deepEqual(stems('ru', 'книги', 'книгу', 'ёлка', 'елка'), ['книг', 'книг', 'елк', 'елк']);
  assert.deepEqual(stems('hi', 'किताबें', 'किताब'), ['किताब', 'किताब']);
  assert.deepEqual(stems('pl', 'książki'), ['ksiazki'], 'no stemmer: its own stem');
  assert.deepEqual(stems('vi', 'phở', 'pho'), ['phở', 'pho'], 'accents tell words apart');
});

test('what is no word of the language has no stem in it', () => {
  for (const [language, word] of [
    ['de', '1999'],
    ['de', 'c++'],
    ['ja', '日'],
    ['de', '日'],
    ['ru', 'running'],
    ['de', ''],
    ['de', 'a'.repeat(65)],
  ]) {
    assert.equal(stemIn(language, word), null, word);
  }
  for (const word of ['constructor', '__proto__', 'toString']) {
    for (const language of [...languages, 'constructor', '__proto__', 'xx']) {
      const stem = stemIn(language, word);
      assert.ok(stem === null || typeof stem === 'string', language);
    }
  }
});

test('every stemmer is a function of the word that ends, for any word', () => {
  const words = [
    'a',
    'aa',
    'ing',
    'é',
    'ß',
    "l'",
    'x'.repeat(64),
    'ий',
    'ός',
    'कि',
    'ää',
    'qu',
    'yyyyy',
    'ة',
    'ﷺ',
    'іі',
  ];
  for (const language of languages)
    for (const word of words) assert.equal(stemIn(language, word), stemIn(language, word), `${language} ${word}`);
});

test('in Vietnamese alone words have a term without their accents, which no word is', () => {
  assert.equal(bareTerm('vi', 'phở'), bareTerm('vi', 'pho'));
  assert.ok(isBareTerm(bareTerm('vi', 'phở') ?? ''));
  assert.equal(bareTerm('de', 'häuser'), null);
  assert.equal(isBareTerm('pho'), false);
});

test('stop words are known also as they are written without accents, where that is no other word', () => {
  for (const word of ['für', 'fur', 'fuer']) assert.ok(stopWordsOf('de').has(word), word);
  for (const word of ['más', 'mas']) assert.ok(stopWordsOf('es').has(word), word);
  assert.ok(stopWordsOf('vi').has('của') && !stopWordsOf('vi').has('cua'));
});

test('a lexicon keeps the stems of a word apart by language', () => {
  const { terms, lexicon } = analyzer.analyze('Möglichkeiten, 12');
  const stem = (term: number) => lexicon.stems[lexicon.stemOf[term]];
  const inGerman = lexicon.inLanguage(terms, 'de');
  assert.deepEqual([...inGerman].map(stem), ['moglich', '', '12']);
  assert.deepEqual([...lexicon.inLanguage(terms, 'en')], [...terms]);
  assert.deepEqual([...lexicon.inLanguage(terms, '')], [...terms]);
  assert.deepEqual([...lexicon.inLanguage(terms, 'de')], [...inGerman]);
  assert.equal(lexicon.words[inGerman[0]], lexicon.words[terms[0]]);
});

test('a language tag names its language, under the code by which it is told', () => {
  const tags = {
    de: 'de',
    'de-AT': 'de',
    en_US: 'en',
    NB: 'no',
    'nn-NO': 'no',
    id: 'ms',
    bs: 'hr',
    iw: 'he',
    la: '',
    constructor: '',
  };
  for (const [tag, language] of Object.entries(tags)) assert.equal(languageOfTag(tag), language, tag);
  for (const none of [null, undefined, 7, '', 'x'.repeat(1e6)]) assert.equal(languageOfTag(none), '');
});

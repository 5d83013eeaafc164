import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { languageOfPassage, languageOfText } from '../../../src/compute/text/chunk-languages.ts';
import { detectLanguage } from '../../../src/compute/text/detect-language.ts';
import { languageOfTag, languages } from '../../../src/compute/text/language-tags.ts';
import { bareTerm, isBareTerm, stemIn } from '../../../src/compute/text/stemmers.ts';
import { stopWordsOf } from '../../../src/compute/text/stop-words.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);

const texts = {
  en: 'The river rises in the hills behind the old town, and in spring it carries so much water that the bridges are closed for days and people have to walk around.',
  de: 'Der Fluss entspringt in den Hügeln hinter der alten Stadt, und im Frühling führt er so viel Wasser, dass die Brücken tagelang gesperrt sind und man einen Umweg gehen muss.',
  es: 'El río nace en las colinas que hay detrás de la ciudad vieja, y en primavera lleva tanta agua que los puentes se cierran durante días y la gente tiene que rodearlos.',
  ru: 'Река берёт начало в холмах за старым городом, и весной в ней столько воды, что мосты закрывают на несколько дней и людям приходится идти в обход.',
  hi: 'नदी पुराने शहर के पीछे की पहाड़ियों से निकलती है और वसंत में इसमें इतना पानी होता है कि पुल कई दिनों तक बंद रहते हैं और लोगों को घूमकर जाना पड़ता है।',
  th: 'แม่น้ำสายนี้เริ่มต้นจากเนินเขาหลังเมืองเก่า และในฤดูใบไม้ผลิมีน้ำมากจนสะพานต้องปิดหลายวัน',
  ja: '川は古い町の裏の丘から流れ出し、春になると水が多すぎて橋が何日も閉鎖される。',
};

test('a text is in the language of its words, whatever it is', () => {
  for (const [language, text] of Object.entries(texts)) {
    assert.equal(languageOfText(analyzer.analyze(text), 'fr'), language);
    assert.ok(languages.includes(language));
    assert.equal(detectLanguage(text), language);
  }
});

test('where the text does not tell, what is declared counts', () => {
  for (const text of ['', '12 34', '☺', 'Halibut', 'Hacker News'])
    assert.equal(languageOfText(analyzer.analyze(text), 'fr'), 'fr', text);
});

test('a passage in another language than its page is told by its own words, a short one is not', () => {
  const analyzed = analyzer.analyze(`${texts.en}\n\n${texts.de}\n\nHerr Ober`);
  const border = analyzed.starts.findIndex((start) => start > texts.en.length);
  const end = analyzed.terms.length;
  assert.equal(languageOfPassage(analyzed, 0, border, 'en'), 'en');
  assert.equal(languageOfPassage(analyzed, border, end - 2, 'en'), 'de');
  assert.equal(languageOfPassage(analyzed, end - 2, end, 'en'), 'en');
  assert.equal(languageOfPassage(analyzed, border, end, ''), '');
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
    iw: 'he',
    la: '',
    constructor: '',
  };
  for (const [tag, language] of Object.entries(tags)) assert.equal(languageOfTag(tag), language, tag);
  for (const none of [null, undefined, 7, '', 'x'.repeat(1e6)]) assert.equal(languageOfTag(none), '');
});

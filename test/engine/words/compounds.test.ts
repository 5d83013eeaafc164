import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../../../src/compute/text/rule-tokenizer.ts';
import { stemIn } from '../../../src/compute/text/stemmers.ts';
import { createQueryAnalyzer } from '../../../src/engine/analyze-query.ts';
import { COMPOUND, compoundsOf, PART, partsOf } from '../../../src/engine/words/compounds.ts';
import { corpusSegment } from '../../../src/engine/words/corpus.ts';
import { languageTerm } from '../../../src/engine/words/languages.ts';
import { wordTerm } from '../../../src/engine/words/marked-terms.ts';
import { createDeletions, markDeleted } from '../../../src/engine/words/segment.ts';
import { wordsIn } from '../../../src/engine/words/spelling.ts';
import { pluck } from '../../rows.ts';
import { buildSegment } from './small-corpus.ts';

const analyzer = createTextAnalyzer(createRuleTokenizer);
/** Stems of German texts as passages have them. */
const termsOf = (text: string, language = 'de') =>
  analyzer.terms(text).words.map((word) => stemIn(language, word) ?? word);
/** Each list of texts a segment. */
function corpusOf(...segments: readonly string[][]) {
  return segments.map((texts, id) => {
    const documents = texts.map((text) => ({
      title: [],
      section: [],
      body: termsOf(text),
      facts: [languageTerm('de'), ...new Set(termsOf(text).map((term) => wordTerm(term, term)))],
    }));
    return corpusSegment(id, buildSegment(documents), createDeletions(texts.length));
  });
}

const lighthouses = [
  'Der Leuchtturm steht auf dem Felsen',
  'Ein Wärter zündet den Leuchtturm an',
  'Der Wärter und seine Geschichten, die Geschichte der Küste',
  'Die Geschichte der Küsten',
  'Leuchtturmwärter waren einsam, Leuchttürme hoch',
  'Küstengeschichte, geschichtlich gesehen',
];

test('a compound has the parts that the corpus has, also over a joint; what is none has none', () => {
  const corpus = corpusOf(lighthouses.slice(0, 3), lighthouses.slice(3));
  const parts = (word: string, language = 'de') => partsOf(corpus, word, language);
  assert.deepEqual(parts('leuchtturmgeschichte'), termsOf('leuchtturm geschichte'));
  assert.deepEqual(parts('wartersgeschichten'), termsOf('wärter geschichte'), 'over an s');
  assert.deepEqual(parts('leuchtturmwartergeschichte'), termsOf('leuchtturm wärter geschichte'));
  for (const none of ['leuchtturm', 'geschichte', 'turmgeschichte', 'wartergei', 'x'.repeat(50), '12345678', ''])
    assert.deepEqual(parts(none), [], none);
  assert.deepEqual(parts('leuchtturmgeschichte', 'fr'), []);
});

test('a word has the compounds that begin or end with it and whose rest the corpus has, the commonest first', () => {
  const corpus = corpusOf(lighthouses.slice(0, 3), lighthouses.slice(3));
  const compounds = (stem: string, language = 'de') => compoundsOf(corpus, stem, language).map(({ word }) => word);
  assert.deepEqual(compounds('leuchtturm'), ['leuchtturmwart']);
  assert.deepEqual(compounds(termsOf('Wärter')[0]), ['leuchtturmwart']);
  assert.deepEqual(compounds('geschicht'), ['kustengeschicht'], 'but not geschichtlich, whose rest is no word');
  for (const none of ['turm', 'leuchtturmwart', 'felsen', 'ein', '']) assert.deepEqual(compounds(none), [], none);
  assert.deepEqual(compounds('leuchtturm', 'en'), []);
});

const forget = ([{ deletions, segment }]: ReturnType<typeof corpusOf>, ordinal: number) =>
  markDeleted(deletions, ordinal, segment.lengths[ordinal]);

test('what was forgotten is no part and no compound', () => {
  const corpus = corpusOf(lighthouses);
  forget(corpus, 4);
  assert.deepEqual(compoundsOf(corpus, 'leuchtturm', 'de'), []);
  forget(corpus, 1);
  assert.deepEqual(partsOf(corpus, 'leuchtturmgeschichte', 'de'), []);
});

test('a query searches for parts and compounds with less weight, and takes no compound of known words for misspelt', () => {
  const analyze = createQueryAnalyzer(analyzer);
  const known = wordsIn(corpusOf(lighthouses));
  const ask = (query: string) => analyze({ query }, known);
  const { forms, corrected } = ask('Leuchtturmgeschichte');
  assert.deepEqual(corrected, []);
  const parts = forms.filter(({ share }) => share === PART);
  assert.deepEqual(pluck(parts, 'stem'), termsOf('leuchtturm geschichte'));
  const shares = ask('der Leuchtturm').forms.map(({ stem, share }) => `${stem} ${share}`);
  assert.deepEqual(shares, ['leuchtturm undefined', `leuchtturmwart ${COMPOUND}`, 'der 0.2']);
  const both = ask('Leuchtturm Leuchtturmwärter').forms.map(({ stem }) => stem);
  assert.deepEqual([...new Set(both)], both, 'what is asked for is no guess as well');
  const words = Array.from({ length: 17 }, (_, at) => `wort${at}`).join(' ');
  assert.ok(ask(`Leuchtturm ${words}`).forms.every(({ share }) => share !== COMPOUND));
});

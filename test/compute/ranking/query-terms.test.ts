import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentTerms } from '../../../src/compute/ranking/query-terms.ts';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';

const analyzer = createTextAnalyzer();
const termsOf = (query: string) => contentTerms(analyzer.terms(query)).stems;

test('a question is searched for by what it is about', () => {
  assert.deepEqual(termsOf("What's the effect of heat on the wings, and why don't they break?"), [
    'effect',
    'heat',
    'wing',
    'break',
  ]);
});

test('elided articles are left out', () => {
  assert.deepEqual(termsOf("l'avenue d’Italie dell'arte"), ['avenu', 'itali', 'art']);
});

test('a query of function words alone keeps them all', () => {
  assert.deepEqual(termsOf('to be or not to be'), ['to', 'be', 'or', 'not', 'to', 'be']);
  assert.deepEqual(termsOf('the who'), ['the', 'who']);
});

test('words that are names as often stay, and repeated words stay repeated', () => {
  assert.deepEqual(termsOf('may will mine of us us'), ['may', 'will', 'mine', 'us', 'us']);
});

test('nothing comes of nothing', () => {
  assert.deepEqual(contentTerms({ words: [], stems: [] }), { words: [], stems: [] });
  assert.deepEqual(contentTerms({ words: [''], stems: [''] }), { words: [], stems: [] });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withFacts } from '../../src/domain/page-facts.ts';

const facts = { published_at: '2024-05-01T00:00:00.000Z', author: 'Ada', lang: 'en', site_name: null };

test('facts fill what was submitted without them, and never what was submitted', () => {
  assert.deepEqual(withFacts(null, facts), { published_at: facts.published_at, author: 'Ada', lang: 'en' });
  assert.deepEqual(withFacts({ author: 'Me', note: 1, lang: null }, facts), {
    author: 'Me',
    note: 1,
    lang: 'en',
    published_at: facts.published_at,
  });
});

test('the lead image is a fact, where the document has one', () => {
  const image = 'https://example.org/a.jpg';
  assert.equal(withFacts({ note: 1 }, { ...facts, image })?.image, image);
  assert.equal(withFacts({ image: 'mine' }, { ...facts, image })?.image, 'mine');
});

test('a document that says nothing of itself changes nothing', () => {
  const none = { published_at: null, author: null, lang: null, site_name: null };
  assert.equal(withFacts(null, none), null);
  assert.deepEqual(withFacts({ a: 1 }, none), { a: 1 });
});

test('a fact that a cut has left with half a character becomes well-formed', () => {
  assert.deepEqual(withFacts(null, { ...facts, author: 'x\ud83d' })?.author, 'x\ufffd');
});

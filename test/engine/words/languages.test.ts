import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOfLabel, languagesOf, languageTerm } from '../../../src/engine/words/languages.ts';
import { createDeletions } from '../../../src/engine/words/segment.ts';
import { type SparseDocument, segmentOf } from './small-corpus.ts';

const documents = (count: number, from: number, language: (label: number) => string) =>
  new Map(
    Array.from({ length: count }, (_, at): [number, SparseDocument] => {
      const label = from + 2 * at;
      const facts = language(label) === '' ? [] : [languageTerm(language(label))];
      return [label, { title: [], section: [], body: ['word'], facts }];
    }),
  );

test('each passage has its language, in a segment of any size', () => {
  const languageAt = (label: number) => ['en', 'de', '', 'ru'][(label >> 1) % 4];
  const corpus = [documents(40_000, 0, languageAt), documents(8, 100_000, languageAt)].map((each, id) => {
    const segment = segmentOf(each);
    return { id, segment, deletions: createDeletions(segment.docs), frequencies: { deleted: 0, live: new Map() } };
  });
  assert.deepEqual(languagesOf(corpus).sort(), ['de', 'en', 'ru']);
  for (const label of [0, 2, 4, 6, 65_536, 65_538, 79_996, 79_998, 100_002, 100_014]) {
    assert.equal(languageOfLabel(corpus, label), languageAt(label), `${label}`);
  }
  for (const label of [1, 90_000, 100_016]) assert.equal(languageOfLabel(corpus, label), '');
});

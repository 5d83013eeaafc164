import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { linkToPassage } from '../../extension/src/omnibox.ts';

const pageWith = (text: string, canonical_url = 'https://example.org/a') => ({
  canonical_url,
  chunks: [{ snippet: { text, start: 0, end: text.length } }] as Parameters<typeof linkToPassage>[0]['chunks'],
});

test('a result opens at its passage', () => {
  assert.equal(
    linkToPassage(pageWith('Herons wade slowly, step-by-step, in the shallow water of the valley')),
    'https://example.org/a#:~:text=Herons%20wade%20slowly%2C%20step%2Dby%2Dstep%2C%20in,water%20of%20the%20valley'.replace(
      'water',
      'shallow%20water',
    ),
  );
  assert.equal(linkToPassage(pageWith('Two words')), 'https://example.org/a#:~:text=Two%20words');
  assert.equal(linkToPassage(pageWith('')), 'https://example.org/a');
  assert.equal(linkToPassage({ canonical_url: 'https://example.org/a', chunks: [] }), 'https://example.org/a');
  assert.equal(linkToPassage(pageWith('Some more words', 'https://example.org/#/a')), 'https://example.org/#/a');
});

test('both languages have the same texts with the same places in them', () => {
  const [english, german] = ['en', 'de'].map(
    (language): Record<string, { message: string; placeholders?: object }> =>
      JSON.parse(
        readFileSync(join(import.meta.dirname, '../../extension/_locales', language, 'messages.json'), 'utf8'),
      ),
  );
  const shape = (texts: typeof english) =>
    Object.entries(texts).map(([name, { message, placeholders }]) => [
      name,
      message.match(/\$V\d\$/g)?.sort(),
      placeholders,
    ]);
  assert.deepEqual(shape(german), shape(english));
});

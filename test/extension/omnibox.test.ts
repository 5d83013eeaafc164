import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { linkToPassage } from '../../extension/src/omnibox.ts';

test('a result opens where the service says that its passage is, and a page without one at its beginning', () => {
  const canonical_url = 'https://example.org/#/a';
  const link = `${canonical_url}:~:text=Herons%20wade`;
  const chunks = [{ link }] as Parameters<typeof linkToPassage>[0]['chunks'];
  assert.equal(linkToPassage({ canonical_url, chunks }), link);
  assert.equal(linkToPassage({ canonical_url, chunks: [] }), canonical_url);
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

/** Ids of the tokenizer: those of the Hugging Face tokenizer for the same texts (test/fixtures/tokens.json), and what is its own. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTokenizer } from '../../../src/compute/embedding/unigram-tokenizer.ts';
import { encoderDir } from '../../../src/encoder/encoder-files.ts';

const file = () => new Uint8Array(readFileSync(join(encoderDir, 'tokenizer.bin')));
const tokenizer = openTokenizer(file());
const { texts }: { texts: { text: string; ids: number[] }[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/tokens.json'), 'utf8'),
);

test('texts in many scripts have the ids that the model was trained with', () => {
  assert.ok(texts.length > 20);
  for (const { text, ids } of texts) assert.deepEqual(tokenizer.encode(text).ids, ids, text);
});

test('what looks like a special token is text', () => {
  const { ids } = tokenizer.encode('</s> <s> <pad> <unk> <mask>');
  assert.ok(ids.every((id) => id > 3 && id < 250_001));
});

test('texts without visible characters have no ids, and half characters are replaced', () => {
  for (const text of ['', ' \n\t', '\u0000\u0007', '\u200b']) assert.deepEqual(tokenizer.encode(text).ids, []);
  assert.deepEqual(tokenizer.encode('a \ud800').ids, tokenizer.encode('a \ufffd').ids);
});

test('unknown characters in a row are one piece', () => {
  const { ids } = tokenizer.encode('\u{10980}\u{10981}\u{10982} end');
  assert.equal(ids.filter((id) => id === 3).length, 1);
});

for (const [what, bytes] of [
  ['other bytes', new Uint8Array(100)],
  ['too few bytes', new Uint8Array(3)],
  ['a cut file', file().slice(0, -1)],
] as const) {
  test(`${what} are refused`, () => {
    assert.throws(() => openTokenizer(bytes), RangeError);
  });
}

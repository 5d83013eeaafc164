/** Long values in parts: each piece is the one of the whole value, and reading it costs its own length. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Key } from 'lmdb';
import { openEnvironment, type Table } from '../../src/store/environment.ts';
import { LongValues, longList, longText } from '../../src/store/long-values.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const partLength = 8;

async function withValues(work: (values: ReturnType<typeof open>) => Promise<void>): Promise<void> {
  await using folder = await TemporaryFolder.make();
  const opened = open(folder.path);
  try {
    await work(opened);
  } finally {
    await opened.environment.close();
  }
}

function open(path: string) {
  const environment = openEnvironment(path, () => 'a store');
  const opened = environment.openAll(() => ({
    texts: new LongValues(environment, longText('heads', 'parts', partLength)),
    lists: new LongValues(environment, longList<number>('list_heads', 'list_parts', partLength)),
    heads: environment.openDatabase<string, number>('heads', { keyEncoding: 'uint32', encoding: 'string' }),
    parts: environment.openDatabase<string, [number, number]>('parts', { encoding: 'string' }),
  }));
  const write = (change: () => unknown) => environment.root.childTransaction(() => void change());
  return { environment, ...opened, write };
}

const keysOf = <StoredKey extends Key>(database: Table<unknown, StoredKey>) => [...database.getKeys()];
/** Texts around the borders of parts, with pairs that may lie on them. */
const anyText = fc.string({ unit: fc.constantFrom('a', 'é', '世', '🜨', ' '), maxLength: 40 });

test('any piece of any text is that of the whole, and what replaces a text leaves nothing of it', async () => {
  await withValues(async ({ texts, heads, parts, write }) => {
    const place = fc.integer({ min: 0, max: 90 });
    await fc.assert(
      fc.asyncProperty(anyText, anyText, place, place, async (before, text, from, to) => {
        await write(() => {
          texts.put(1, before);
          texts.put(2, 'beside');
          texts.put(1, text);
        });
        assert.equal(texts.get(1), text);
        assert.equal(texts.length(1), text.length);
        assert.equal(texts.slice(1, from, to), from < to ? text.slice(from, to) : '');
        assert.deepEqual([texts.isWhole(1), texts.has(1), texts.get(2)], [true, true, 'beside']);
        assert.deepEqual([...new Set(texts.owners())], [1, 2]);
        const lengths = [...parts.getRange()].map(({ value }) => value.length);
        assert.ok([heads.get(1)?.length ?? 0, ...lengths].every((length) => length <= partLength));
        await write(() => texts.remove(1));
        assert.deepEqual([texts.get(1), texts.length(1), texts.slice(1, 0, 9)], [undefined, undefined, '']);
        assert.deepEqual([keysOf(heads), keysOf(parts)], [[2], []]);
      }),
      { seed: 81, numRuns: 60 },
    );
  });
});

test('lists come back whole and in pieces', async () => {
  await withValues(async ({ lists, write }) => {
    const list = Array.from({ length: 30 }, (_, at) => at);
    await write(() => lists.put(7, list));
    assert.deepEqual([lists.get(7), lists.length(7), lists.slice(7, 15, 17)], [list, 30, [15, 16]]);
    await write(() => lists.put(7, []));
    assert.deepEqual([lists.get(7), lists.length(7), lists.slice(7, 0, 2)], [[], 0, []]);
  });
});

test('a value from before there were parts is read as it is', async () => {
  await withValues(async ({ texts, heads, parts, write }) => {
    const text = '0123456789'.repeat(5);
    await write(() => heads.put(3, text));
    assert.deepEqual([texts.get(3), texts.length(3), texts.isWhole(3)], [text, 50, true]);
    const pieces = '0-5 5-20 30-99 49-50 50-60'.split(' ').map((piece) => piece.split('-').map(Number));
    for (const [from, to] of pieces) assert.equal(texts.slice(3, from, to), text.slice(from, to));
    await write(() => texts.put(3, text));
    assert.deepEqual([texts.get(3), heads.get(3)?.length, keysOf(parts).length], [text, partLength, 6]);
  });
});

test('a part that is missing, and one behind no head, are seen', async () => {
  await withValues(async ({ texts, heads, parts, write }) => {
    await write(() => texts.put(4, 'x'.repeat(50)));
    await write(() => parts.remove([4, 16]));
    assert.equal(texts.isWhole(4), false);
    await write(() => {
      texts.put(4, 'x'.repeat(50));
      heads.remove(4);
    });
    assert.deepEqual([texts.isWhole(4), texts.has(4), [...new Set(texts.owners())]], [false, false, [4]]);
  });
});

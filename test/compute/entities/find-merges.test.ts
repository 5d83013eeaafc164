import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { openWordVectors } from '../../../src/compute/embedding/word-vectors.ts';
import { findMerges, isCased } from '../../../src/compute/entities/find-merges.ts';
import { packNames, unpackNames } from '../../../src/compute/entities/packed-names.ts';
import { createWordKinds } from '../../../src/compute/entities/word-kinds.ts';
import { editDistance } from '../../../src/compute/text/edit-distance.ts';
import { loadWordVectors } from '../../../src/engine/load-word-vectors.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const thresholds = { cosine: 0.85, editDistance: 0.15 };

describe('names of one entity', () => {
  const kinds = createWordKinds(openWordVectors(loadWordVectors()));
  const merged = (type: string, ...keys: string[]) =>
    findMerges(
      keys.map((key, no) => ({ no, type, key: key.toLowerCase(), isCased: isCased(key) })),
      thresholds,
      kinds,
    ).map(({ a, b }) => [keys[a], keys[b]].sort().join(' = '));

  it('are those that differ in articles, points and signs', () => {
    assert.deepEqual(merged('organization', 'the beatles', 'beatles', 'u.s. steel', 'us steel'), [
      'beatles = the beatles',
      'u.s. steel = us steel',
    ]);
  });

  it('are those that differ in the spelling of a longer word', () => {
    assert.deepEqual(merged('person', 'aleksandr solzhenitsyn', 'aleksandr solzhenitzyn', 'anna solzhenitsyn'), [
      'aleksandr solzhenitsyn = aleksandr solzhenitzyn',
    ]);
  });

  it('are not those that differ in numbers, short words, known words, or first letters', () => {
    assert.deepEqual(
      merged('event', 'world war i', 'world war ii', '2001 german federal election', '2005 german federal election'),
      [],
    );
    assert.deepEqual(merged('person', 'john smithson', 'joan smithson', 'marina kowalskaya', 'martina kowalskaya'), []);
    assert.deepEqual(merged('place', 'north karelia valley', 'south karelia valley'), []);
  });

  it('are not those of which one word differs in much of its letters, however long the rest is', () => {
    assert.deepEqual(merged('organization', 'university of dundee', 'university of denver'), []);
    assert.deepEqual(merged('organization', 'national archives of zorbland', 'national archives of zorblend'), [
      'national archives of zorbland = national archives of zorblend',
    ]);
  });

  it('are not those of which one word is another one in use that is more than a letter away', () => {
    const inUse = new Set(['rovington', 'rovingdan', 'rovingtan']);
    const place = { given: 0, family: 0, place: 1, organization: 0, group: 0, common: 0 };
    const knowing = { ...kinds, kindsOf: (word: string) => (inUse.has(word) ? place : kinds.kindsOf(word)) };
    const found = findMerges(
      ['rovington', 'rovingdan', 'rovingtan', 'rovingtom'].map((name, no) => ({
        no,
        type: 'organization',
        key: `grand library of ${name}`,
        isCased: false,
      })),
      thresholds,
      knowing,
    );
    assert.deepEqual(found.map(({ a, b }) => `${a} ${b}`).sort(), ['0 2', '0 3', '1 2', '1 3', '2 3']);
  });

  it('are those that a common word tells apart', () => {
    const firms = Array.from({ length: 60 }, (_, i) => `firm${i}ium corporation`);
    assert.deepEqual(merged('organization', ...firms, 'zorblaxium'), []);
    assert.deepEqual(merged('organization', ...firms, 'zorblaxium blivet corporation', 'zorblaxium blivet'), [
      'zorblaxium blivet = zorblaxium blivet corporation',
    ]);
  });

  it('are those of one person with and without a middle initial, unless initials tell two apart', () => {
    assert.deepEqual(merged('person', 'donald j. trump', 'donald trump', 'melania trump'), [
      'donald j. trump = donald trump',
    ]);
    assert.deepEqual(merged('person', 'george w. bush', 'george h. w. bush', 'george bush'), []);
  });

  it('are no single words with capitals inside that differ in a letter', () => {
    assert.deepEqual(merged('organization', 'OpenSSL', 'OpenSSF', 'ZORBLAXI', 'ZORBLAXO'), []);
    assert.deepEqual(merged('organization', 'Zorblaxi', 'Zorblaxo'), ['Zorblaxi = Zorblaxo']);
  });

  it('are none whose Roman numerals differ, or whose words stand in another order', () => {
    assert.deepEqual(merged('event', 'zorblaxian congress xlviii', 'zorblaxian congress xlvii'), []);
    assert.deepEqual(merged('event', 'super bowl xl', 'super bowl l', 'super bowl'), []);
    assert.deepEqual(merged('work', 'object to string', 'string to object'), []);
  });

  it('are of one type, and never dates', () => {
    assert.deepEqual(merged('date', '5 may 2020', '5 may 2020.'), []);
    const two = [
      { no: 1, type: 'place', key: 'lincolnshire', isCased: false },
      { no: 2, type: 'person', key: 'lincolnshire', isCased: false },
    ];
    assert.deepEqual(findMerges(two, thresholds, kinds), []);
  });

  it('are found for new names as among all: pairs of older ones alone are left out', () => {
    const word = fc
      .tuple(fc.constantFrom('zorblax', 'krimtov', 'vandelmo'), fc.constantFrom('ium', 'iom', 'ian', 'ov', ''))
      .map((parts) => parts.join(''));
    const key = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
    const names = fc
      .uniqueArray(fc.tuple(fc.constantFrom('person', 'place'), key), {
        selector: (name) => name.join(),
        maxLength: 30,
      })
      .map((all) => all.map(([type, key], at) => ({ no: at + 1, type, key, isCased: at % 3 === 0 })));
    fc.assert(
      fc.property(names, fc.nat(30), (all, after) => {
        const whole = findMerges(all, thresholds, kinds).filter(({ b }) => b > after);
        assert.deepEqual(findMerges(unpackNames([packNames(all)]), thresholds, kinds, after), whole);
      }),
    );
  });

  it('are all that differ in so few letters, swapped ones and those at the bound, too', () => {
    const letter = fc.constantFrom('k', 'o', 'm', 'u');
    const stem = fc.string({ unit: letter, minLength: 7, maxLength: 16 });
    const edit = fc.tuple(fc.constantFrom('swap', 'insert', 'delete', 'replace'), fc.nat(15), letter);
    const spelling = fc
      .tuple(stem, fc.array(edit, { maxLength: 3 }))
      .map(([text, edits]) => [text, respelt(text, edits)]);
    const names = fc
      .array(spelling, { maxLength: 8 })
      .map((pairs) => [...new Set(pairs.flat().filter((name) => name.length >= 5))].map((name) => `zq${name}`));
    fc.assert(
      fc.property(names, fc.constantFrom(0.15, 0.3), (keys, editDistanceShare) => {
        const entities = keys.map((key, no) => ({ no, type: 'place', key, isCased: false }));
        const found = findMerges(entities, { cosine: 1, editDistance: editDistanceShare }, kinds);
        const alike: string[] = [];
        for (const [b, two] of keys.entries()) {
          for (const [a, one] of keys.slice(0, b).entries()) {
            const most = Math.floor(editDistanceShare * Math.max(one.length, two.length));
            if (editDistance(one, two, most) <= most) alike.push(`${a} ${b}`);
          }
        }
        assert.deepEqual(found.map(({ a, b }) => `${a} ${b}`).sort(), alike.sort());
      }),
      { numRuns: 300 },
    );
  });

  it('are found among ten thousand in time in proportion', () => {
    let seed = 42;
    const letters = (length: number) =>
      Array.from({ length }, () => {
        seed = (seed * 1_664_525 + 1_013_904_223) >>> 0;
        return String.fromCharCode(97 + ((seed >>> 16) % 26));
      }).join('');
    assertGrowsInProportion(
      10_000,
      (count) =>
        Array.from({ length: count }, (_, no) => ({
          no,
          type: 'person',
          key: `${letters(4)}ander ${letters(5)}ovich`,
          isCased: false,
        })),
      (names) => findMerges(names, thresholds, kinds),
    );
  });
});

it('the edit distance in a band is the edit distance', () => {
  const whole = (a: string, b: string): number => {
    const rows = Array.from({ length: a.length + 1 }, (_, i) =>
      Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
    );
    for (let i = 1; i <= a.length; i++) {
      for (let j = 1; j <= b.length; j++) {
        const replace = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
        rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replace);
        const swaps = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
        if (swaps) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
    return rows[a.length][b.length];
  };
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
  fc.assert(
    fc.property(word, word, fc.nat(8), (a, b, most) => {
      assert.equal(editDistance(a, b, most), Math.min(whole(a, b), most + 1));
    }),
  );
});

/** A text with some letters swapped, inserted, deleted or replaced. */
function respelt(text: string, edits: readonly (readonly [kind: string, at: number, letter: string])[]): string {
  const letters = [...text];
  for (const [kind, place, letter] of edits) {
    const at = place % (letters.length - 1);
    if (kind === 'swap') letters.splice(at, 2, letters[at + 1], letters[at]);
    else if (kind === 'insert') letters.splice(at, 0, letter);
    else letters.splice(at, 1, ...(kind === 'replace' ? [letter] : []));
  }
  return letters.join('');
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { variantOf } from '../../../src/compute/text/name-variants.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

/** Pairs of one type: `type`, one name, another. */
type Pairs = readonly (readonly [type: string, one: string, other: string])[];
const {
  same,
  different,
}: Record<'same' | 'different', Record<string, Pairs>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/name-variants.json'), 'utf8'),
);

describe('two names of one type', () => {
  const isSame = (type: string, one: string, other: string) => {
    const form = variantOf(type, one);
    return form !== null && form === variantOf(type, other);
  };
  for (const [kind, pairs] of Object.entries(same)) {
    it(`are one that differ in ${kind}`, () => {
      const apart = pairs.filter(([type, one, other]) => !isSame(type, one, other));
      assert.deepEqual(apart, []);
    });
  }
  for (const [kind, pairs] of Object.entries(different)) {
    it(`are two that differ in ${kind}`, () => {
      const merged = pairs.filter(([type, one, other]) => isSame(type, one, other));
      assert.deepEqual(merged, []);
    });
  }

  it('are none where no letter or number is in them', () => {
    for (const name of ['', '!!!', '…', ' ']) assert.equal(variantOf('organization', name), null);
  });

  it('are one where only white space differs, whatever they are written with', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        assert.equal(variantOf('work', `${name} x`), variantOf('work', ` ${name}  x `));
      }),
    );
  });

  it('are compared in time in proportion to their length', () => {
    assertGrowsInProportion(
      20_000,
      (length) => `${'a. '.repeat(length)}1-2 'x' `.repeat(2),
      (name) => variantOf('work', name),
    );
  });
});

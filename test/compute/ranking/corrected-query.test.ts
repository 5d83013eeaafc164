import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correctedQuery } from '../../../src/compute/ranking/corrected-query.ts';

test('a query reads as it was searched for: words are replaced however they are written, operators stay', () => {
  const meant: Readonly<Record<string, string>> = { kerneel: 'kernel', i̇stanbol: 'istanbul', kotflügl: 'kotflügel' };
  for (const [query, operators, expected] of [
    ['kerneel', true, 'kernel'],
    ['Kerneel, kerneel’s', true, 'kernel, kernel’s'],
    ['kerneels', true, null],
    ['  the  KERNEEL ', false, '  the  kernel '],
    ['kerneel -kerneel', true, 'kernel -kerneel'],
    ['kerneel -kerneel', false, 'kernel -kernel'],
    ['kerneel -site:kerneel.org', true, 'kernel -site:kerneel.org'],
    ['kerneel title: "a kerneel" "kerneel kerneel"', true, 'kernel title: "a kerneel" "kerneel kerneel"'],
    ['"kerneel" lang:de', true, null],
    ['kerneel after:2020 after:now', true, 'kernel after:2020 after:now'],
    ['İstanbol', true, 'istanbul'],
    ['Kotflu\u0308gl Kot\u00adflügl', true, 'kotflügel kotflügel'],
  ] as const) {
    const corrected = Object.entries(meant).map(([word, taken]) => ({ word, taken: [taken] }));
    assert.equal(correctedQuery({ query, operators }, corrected), expected, query);
  }
  assert.equal(correctedQuery({ query: 'kerneel', operators: true }, []), null);
});

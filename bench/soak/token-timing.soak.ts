/** How long a wrong token takes does not tell how much of it is right: Welch's t over interleaved calls of two kinds. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Access } from '../../src/access/access.ts';
import type { AuthToken } from '../../src/domain/access.ts';
import { note } from '../../test/process/rare-states.ts';
import { mean, percentile, round } from '../../test/process/samples.ts';

const calls = 200_000;
/** Beyond this a difference counts as shown (test vector leakage assessment). */
const bound = 4.5;
const right = randomBytes(32).toString('base64url');
const tokens: AuthToken[] = [{ name: 'one', library: 'default', token: right, scopes: ['read', 'write'] }];
const access = new Access({
  operatorTokens: () => tokens,
  libraries: new Set(['default']),
  file: { records: null, save: async () => {} },
  log: { warn: () => {} },
});
const verify = (token: string) => access.holderOfToken(token);

const other = (character: string) => (character === 'x' ? 'y' : 'x');
const kinds = {
  'the first byte is wrong': other(right[0]) + right.slice(1),
  'the last byte is wrong': right.slice(0, -1) + other(right.at(-1) ?? ''),
  'half as long': right.slice(0, right.length / 2),
  'twice as long': right + right,
};

/** The slowest hundredth of all is what else the machine did. */
function welch(a: readonly number[], b: readonly number[]): number {
  const limit = percentile([...a, ...b], 0.99);
  const [x, y] = [a, b].map((values) => values.filter((value) => value <= limit));
  const variance = (values: readonly number[]) => {
    const middle = mean(values);
    return mean(values.map((value) => (value - middle) ** 2));
  };
  return (mean(x) - mean(y)) / Math.sqrt(variance(x) / x.length + variance(y) / y.length);
}

function compare(first: string, second: string): number {
  const times: [number[], number[]] = [[], []];
  const order = randomBytes(calls);
  for (let at = 0; at < calls; at++) {
    const which = order[at] & 1;
    // A new string for each call, made by the same steps for both, as a request brings one.
    const token = Buffer.from(which === 0 ? first : second).toString('latin1');
    const began = process.hrtime.bigint();
    const holder = verify(token);
    times[which].push(Number(process.hrtime.bigint() - began));
    assert.equal(holder, null);
  }
  return welch(times[0], times[1]);
}

test('a wrong token takes as long wherever it is wrong', () => {
  const first = kinds['the first byte is wrong'];
  const last = kinds['the last byte is wrong'];
  compare(first, last); // until everything is compiled
  const t = compare(first, last);
  note({ counts: { token_timing_t: round(t) } });
  assert.ok(Math.abs(t) < bound, `t = ${t}`);
});

test('the verifier throws at no token', () => {
  for (const token of [...Object.values(kinds), '', '\0', 'ü'.repeat(1000)]) assert.equal(verify(token), null);
  assert.deepEqual(verify(right)?.name, 'one');
});

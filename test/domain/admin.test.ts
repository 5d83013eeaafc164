import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeseriesQuery } from '../../src/domain/admin.ts';

const stepOf = (step: unknown) => timeseriesQuery.safeParse({ metric: 'jobs', step }).data?.step;

test('a step is any number above 0 as JSON writes it, and a minute where none is sent', () => {
  assert.deepEqual(['15', '0.5', '1e3', '2.5E-1', undefined].map(stepOf), [15, 0.5, 1000, 0.25, 60]);
  for (const sent of ['0', '-1', '1e-999', '1e999', 'Infinity', 'NaN', '', ' 1', '0x10', ['1', '2']]) {
    assert.equal(stepOf(sent), undefined, String(sent));
  }
  const codes = ['-1', '0', 'x'].map(
    (step) => timeseriesQuery.safeParse({ metric: 'jobs', step }).error?.issues[0]?.code,
  );
  assert.deepEqual(codes, ['too_small', 'too_small', 'invalid_type'], 'a number is told from what is none');
});

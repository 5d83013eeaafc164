import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknownVariables, unknownVariableText } from '../../src/settings/unknown-variables.ts';

test('a variable that looks like a setting and is none is told, with the one that may have been meant', () => {
  const env = {
    SERVICE_BIND_PRT: '1',
    SERVICE_BIND_PORT: '2',
    SERVICE_FETCH_TIMEOUT_S: '3',
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: 'http://127.0.0.1/',
    SERVICE_SOMETHING_ELSE_ALTOGETHER: '4',
    PATH: '/bin',
  };
  assert.deepEqual(unknownVariables(env).map(unknownVariableText), [
    'SERVICE_BIND_PRT is not a setting and is ignored; did you mean SERVICE_BIND_PORT?',
    'SERVICE_FETCH_TIMEOUT_S is not a setting and is ignored; did you mean SERVICE_FETCH__TIMEOUT_S?',
    'SERVICE_SOMETHING_ELSE_ALTOGETHER is not a setting and is ignored',
  ]);
});

test('of many, and of long names, as much is told as a person reads', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`SERVICE_LINKED_${i}_PORT`, 'x']));
  assert.equal(unknownVariables({ ...many, [`SERVICE_${'X'.repeat(100_000)}`]: 'x' }).length, 20);
});

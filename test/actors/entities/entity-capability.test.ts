import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireEntityCapability } from '../../../src/actors/entities/entity-capability.ts';
import { isOperatorError } from '../../../src/domain/errors.ts';

test('without the packages that find names the start fails in a line that says which', () => {
  requireEntityCapability();
  const resolve = (name: string) => {
    if (name !== 'wink-nlp') throw new Error(`Cannot find module '${name}'`);
    return name;
  };
  assert.throws(
    () => requireEntityCapability(resolve),
    (error) => {
      assert.ok(isOperatorError(error, 'entity_capability'));
      assert.equal(
        error.message,
        "entity extraction is not installed: compromise/two, wink-eng-lite-web-model cannot be found; run npm ci in the service's folder",
      );
      return true;
    },
  );
});

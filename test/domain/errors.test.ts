import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorMessage } from '../../src/domain/errors.ts';

test('whatever was thrown is said in words', () => {
  assert.equal(errorMessage(new RangeError('too long')), 'too long');
  assert.equal(errorMessage('plain text'), 'plain text');
  assert.equal(errorMessage(undefined), 'undefined');
  assert.equal(errorMessage(Symbol('odd')), 'Symbol(odd)');
});

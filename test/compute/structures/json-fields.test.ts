import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownField, parsedJson } from '../../../src/compute/structures/json-fields.ts';

test('JSON is read, with and without a byte order mark; what is none is null', () => {
  assert.deepEqual(parsedJson('{"a": [1]}'), { a: [1] });
  assert.deepEqual(parsedJson('\ufeff[]'), []);
  for (const text of ['', '{', 'null', '\ufeff\ufeff1', '<html>']) assert.equal(parsedJson(text), null, text);
});

test('a field is an object’s own', () => {
  const value = parsedJson('{"name": "n", "__proto__": 1, "none": null}');
  assert.equal(ownField(value, 'name'), 'n');
  assert.equal(ownField(value, '__proto__'), 1);
  assert.equal(ownField(value, 'none'), null);
  assert.equal(ownField(value, 'toString'), undefined);
  for (const other of [null, undefined, 'text', 3]) assert.equal(ownField(other, 'length'), undefined);
  assert.equal(ownField(['first'], '0'), 'first');
});

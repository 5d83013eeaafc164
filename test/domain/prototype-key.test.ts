import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { prototypeKeyPath } from '../../src/domain/prototype-key.ts';

const parse = (text: string): unknown => JSON.parse(text);

test('the way to the key is told, through objects and arrays, at any depth', () => {
  assert.deepEqual(prototypeKeyPath(parse('{"__proto__":null}')), ['__proto__']);
  assert.deepEqual(prototypeKeyPath(parse('{"a":[1,{"0":{"__proto__":1}}]}')), ['a', 1, '0', '__proto__']);
  const deep = parse(`${'['.repeat(50_000)}{"__proto__":1}${']'.repeat(50_000)}`);
  assert.equal(prototypeKeyPath(deep)?.length, 50_001);
});

test('the array of the excepted field is not looked into, and everything else is', () => {
  const found = (text: string) => prototypeKeyPath(parse(text), 'pages');
  assert.equal(found('{"pages":[{"__proto__":1}]}'), null);
  assert.deepEqual(found('{"pages":{"__proto__":1}}'), ['pages', '__proto__']);
  assert.deepEqual(found('{"x":{"pages":[{"__proto__":1}]}}'), ['x', 'pages', 0, '__proto__']);
  assert.deepEqual(found('{"pages":[],"__proto__":1}'), ['__proto__']);
});

test('a value has a way to the key exactly when its text has the key', () => {
  const key = fc.constantFrom('__proto__', 'constructor', 'prototype', 'a');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.constantFrom('1', '"__proto__"'), tie('object'), tie('array')),
    object: fc
      .array(fc.tuple(key, tie('value')), { maxLength: 3 })
      .map((entries) => `{${entries.map(([name, inner]) => `"${name}":${inner}`).join()}}`),
    array: fc.array(tie('value'), { maxLength: 3 }).map((entries) => `[${entries.join()}]`),
  }));
  fc.assert(
    fc.property(value, (text) => {
      const parsed = parse(String(text));
      assert.equal(prototypeKeyPath(parsed) !== null, JSON.stringify(parsed).includes('"__proto__":'));
    }),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicSuffix, isRegisteredName } from '../../../src/compute/web/registered-names.ts';

test('public suffixes are told from domains and from bare host names', () => {
  assert.deepEqual(
    'com co.uk github.io example.com bbc.co.uk someone.github.io localhost 127.0.0.1 [::1]'
      .split(' ')
      .map(isPublicSuffix),
    [true, true, true, false, false, false, false, false, false],
  );
});

test('a registered name lies below what everybody may register under', () => {
  for (const name of ['forbes.com', 'a.www.bbc.co.uk', 'someone.github.io', 'asp.net', 'xn--e1afmkfd.xn--p1ai']) {
    assert.equal(isRegisteredName(name), true, name);
  }
  for (const name of ['com', 'co.uk', 'node.js', 'e.g', 'localhost', '127.0.0.1', '[::1]', 'nas.local', '']) {
    assert.equal(isRegisteredName(name), false, name);
  }
});

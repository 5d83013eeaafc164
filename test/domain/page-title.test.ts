import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownTitle } from '../../src/domain/page.ts';

test('a title that is only an address is none', () => {
  const address = 'https://site.example/a/b?c=1';
  const none = [
    address,
    ' https://site.example/a/b?c=1 ',
    'http://www.site.example/a/b?c=1',
    'site.example/a/b?c=1',
    'SITE.example/a/b?c=1/',
    ...['https://moved.example/elsewhere', 'www.site.example', 'HTTP://SITE.EXAMPLE/'],
  ];
  for (const title of none) assert.equal(ownTitle(title, address), null, title);
  assert.equal(ownTitle(null, address), null);
  for (const title of ['site.example', 'A page', 'https://site.example/ explained', 'b', '', 'x'.repeat(100_000)])
    assert.equal(ownTitle(title, address), title);
});

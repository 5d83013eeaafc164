import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOfQuery, urlOfQuery } from '../../../src/compute/ranking/exact-query.ts';

test('a query is a host where it is one word below a public suffix; its suffix and www are no words', () => {
  const forbes = { domain: 'forbes.com', words: 'forbes' };
  for (const query of [
    'forbes.com',
    ' Forbes.COM. ',
    'www.forbes.com',
    'https://forbes.com',
    'http://www.forbes.com/',
  ]) {
    assert.deepEqual(hostOfQuery(query), forbes, query);
  }
  const hosts: Record<string, { domain: string; words: string }> = {
    'the-guardian-times.co.uk': { domain: 'the-guardian-times.co.uk', words: 'the guardian times' },
    'sailing1.example.org': { domain: 'sailing1.example.org', words: 'example sailing1' },
    'someone.github.io': { domain: 'someone.github.io', words: 'github someone' },
    'münchen.de': { domain: 'xn--mnchen-3ya.de', words: 'münchen' },
    'asp.net': { domain: 'asp.net', words: 'asp' },
  };
  for (const [query, host] of Object.entries(hosts)) assert.deepEqual(hostOfQuery(query), host, query);
});

test('words, suffixes, addresses of pages and of people are no hosts', () => {
  const others =
    'node.js vue.js e.g. i.e. 3.14 v2.0 com co.uk www.com localhost 127.0.0.1 nas.local forbes.com/a forbes.com? me@forbes.com';
  for (const query of [
    ...others.split(' '),
    '',
    ' ',
    'Booking.com hotel Rome',
    '"forbes.com"',
    '.com',
    'ftp://forbes.com',
  ]) {
    assert.equal(hostOfQuery(query), null, query);
  }
});

test('a query may be a URL with a scheme or, where it looks like a host and a path, without one', () => {
  for (const url of ['https://forbes.com/a', 'FTP://x', 'x-y+z.1://a?b']) assert.equal(urlOfQuery(` ${url} `), url);
  for (const url of ['forbes.com', 'forbes.com/a', 'localhost:3000/@me', 'wiki/Home', 'a.b?c=d#e']) {
    assert.equal(urlOfQuery(url), `https://${url}`);
  }
  for (const query of ['heron', 'grey heron', 'https://a b', 'me@forbes.com', 'why?', '/a.b', '', ' ']) {
    assert.equal(urlOfQuery(query), null, query);
  }
});

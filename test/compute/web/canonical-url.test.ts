import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addressesLike,
  canonicalizeUrl,
  defaultTrackingParams,
  presetKeepParams,
} from '../../../src/compute/web/canonical-url.ts';

const settings = { tracking_params: defaultTrackingParams, keep_params: presetKeepParams };

function canonical(url: string, given = settings): string {
  const result = canonicalizeUrl(url, given);
  return 'invalid' in result ? result.invalid : result.canonical_url;
}

test('equal addresses have one canonical form', () => {
  const cases: Record<string, string> = {
    'HTTP://Example.COM': 'http://example.com/',
    'https://example.com:443/a': 'https://example.com/a',
    'http://example.com:8080/a': 'http://example.com:8080/a',
    'https://example.com./a': 'https://example.com/a',
    'https://Bücher.example/Ä': 'https://xn--bcher-kva.example/%C3%84',
    'https://example.com/%c3%84?q=%2f': 'https://example.com/%C3%84?q=%2F',
    'https://user:secret@example.com/': 'https://example.com/',
    'https://example.com/Path/?b=2&a=1': 'https://example.com/Path/?b=2&a=1',
    'https://example.com/a/../b/./c': 'https://example.com/b/c',
    'https://example.com/a#part': 'https://example.com/a',
    'https://example.com/a#:~:text=b': 'https://example.com/a',
    'https://example.com/#!/inbox': 'https://example.com/#!/inbox',
    'https://example.com/#/inbox?x=1': 'https://example.com/#/inbox?x=1',
    '  https://example.com/a b\n': 'https://example.com/a%20b',
    'https://[2001:DB8::1]:443/': 'https://[2001:db8::1]/',
    'Gemini://Example.ORG/x': 'gemini://example.org/x',
    'https://example.com/?': 'https://example.com/',
    'https://example.com/?&&': 'https://example.com/',
  };
  for (const [url, expected] of Object.entries(cases)) assert.equal(canonical(url), expected);
});

test('tracking parameters are dropped by name, ignoring case or escapes, and nothing else is', () => {
  const cases: Record<string, string> = {
    'https://example.com/?utm_source=a&id=1&UTM_Medium=b&fbclid=c': 'https://example.com/?id=1',
    'https://example.com/?gclid=1&ref=2&si=3': 'https://example.com/',
    'https://example.com/?%75tm_source=a&x': 'https://example.com/?x',
    'https://example.com/?reference=1&sid=2&my_utm_source=3&q=utm_source':
      'https://example.com/?reference=1&sid=2&my_utm_source=3&q=utm_source',
    'https://example.com/?a=1&a=2&b': 'https://example.com/?a=1&a=2&b',
  };
  for (const [url, expected] of Object.entries(cases)) assert.equal(canonical(url), expected);
  const stripped = canonical('https://example.com/?mc_eid=1&utm_source=2', { ...settings, tracking_params: ['MC_*'] });
  assert.equal(stripped, 'https://example.com/?utm_source=2');
});

test('a domain with kept parameters keeps only those, and the longest domain that matches decides', () => {
  const video = canonical('https://www.youtube.com/watch?app=desktop&v=abc&t=10s&feature=share');
  assert.equal(video, 'https://www.youtube.com/watch?v=abc');
  assert.equal(canonical('https://youtu.be/abc?si=x&t=4'), 'https://youtu.be/abc');
  assert.equal(canonical('https://news.ycombinator.com/item?id=1&x=2'), 'https://news.ycombinator.com/item?id=1');
  assert.equal(canonical('https://notyoutube.com/watch?app=1'), 'https://notyoutube.com/watch?app=1');
  const keep_params = { 'example.com': ['a'], 'forum.example.com': ['ref', 'p*'] };
  assert.equal(canonical('https://x.example.com/?a=1&b=2', { ...settings, keep_params }), 'https://x.example.com/?a=1');
  assert.equal(
    canonical('https://forum.example.com/?a=1&ref=2&page=3', { ...settings, keep_params }),
    'https://forum.example.com/?ref=2&page=3',
  );
});

test('the domain is the host without port', () => {
  assert.deepEqual(canonicalizeUrl('https://A.Example.com:8443/', settings), {
    canonical_url: 'https://a.example.com:8443/',
    domain: 'a.example.com',
  });
});

test('a url without scheme or host, or with an impossible host, is refused with the cause', () => {
  const missing = 'url must have a scheme and a host';
  for (const url of [
    '',
    'example.com',
    '//example.com/',
    '/path',
    'file:///etc/x',
    'mailto:a@example.com',
    'about:blank',
    'data:text/html,a',
    'http://',
    'http:///a',
    'http:example.com',
    'javascript:alert(1)',
  ]) {
    assert.equal(canonical(url), missing, url);
  }
  for (const url of [
    'http://exa mple.com/',
    'http://a<b/',
    'http://1.2.3.999/',
    'http://[::1/',
    'http://example.com:99999/',
  ]) {
    assert.equal(canonical(url), 'url must have a valid host', url);
  }
  for (const url of ['http://./', 'http://a..b/', 'http://999.999.999.999../']) {
    assert.equal(canonical(url), 'url must have a host without empty labels', url);
  }
});

test('a url whose host is longer than a host can be is refused with the cause', () => {
  const tooLong = 'url must have a host of at most 253 characters';
  const cases: Record<string, string> = {
    [`http://${'a.'.repeat(125)}com/`]: `http://${'a.'.repeat(125)}com/`,
    [`http://${'u'.repeat(2000)}:p@example.com/`]: 'http://example.com/',
    [`http://${'a.'.repeat(126)}com/`]: tooLong,
    [`http://${'a.'.repeat(2_000_000)}com/`]: tooLong,
    [`http://u@${'a\u0301\u0316'.repeat(100_000)}.com/`]: tooLong,
    [`http://${'a'.repeat(64)}.com/`]: 'url must have a host whose labels have at most 63 characters',
  };
  for (const [url, expected] of Object.entries(cases)) assert.equal(canonical(url), expected, url.slice(0, 100));
});

test('canonicalising twice changes nothing more', () => {
  const odd = fc.tuple(
    fc.constantFrom('http', 'HTTPS', 'foo', 'ws'),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
  );
  const anyUrl = fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    odd.map(([scheme, host, rest]) => `${scheme}://${host}/${rest}`),
    odd.map(([scheme, , rest]) => `${scheme}://Example.com.?utm_a=%c3&${rest}#!${rest}`),
    odd.map(([scheme, , rest]) => `${scheme}://u:p@example.com:80${rest}`),
  );
  fc.assert(
    fc.property(anyUrl, (url) => {
      const once = canonicalizeUrl(url, settings);
      if (!('invalid' in once)) assert.deepEqual(canonicalizeUrl(once.canonical_url, settings), once);
    }),
    { numRuns: 1500 },
  );
});

test('addresses are alike that differ in http and https, in www and in a slash at the end alone', () => {
  assert.deepEqual(
    addressesLike('http://example.com/a%C3?q=1#!b'),
    [
      'https://example.com/a%C3?q=1#!b https://example.com/a%C3/?q=1#!b https://www.example.com/a%C3?q=1#!b',
      'https://www.example.com/a%C3/?q=1#!b http://example.com/a%C3/?q=1#!b',
      'http://www.example.com/a%C3?q=1#!b http://www.example.com/a%C3/?q=1#!b',
    ].flatMap((line) => line.split(' ')),
  );
  assert.deepEqual(addressesLike('https://www.example.com:8080/'), [
    'https://example.com:8080/',
    'http://example.com:8080/',
    'http://www.example.com:8080/',
  ]);
  assert.deepEqual(addressesLike('ftp://example.com/a'), []);
});

test('a url of 100,000 characters is canonicalised', () => {
  const long = `https://example.com/${'a'.repeat(50_000)}?q=${'b'.repeat(50_000)}`;
  assert.equal(canonical(`${long}&utm_source=x`), long);
});

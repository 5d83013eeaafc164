import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import {
  domainMatches,
  domainSuffixes,
  isPageUnder,
  isPlace,
  normalizeDomain,
} from '../../../src/compute/web/domain-match.ts';

test('a domain matches itself and the domains above it, label by label', () => {
  const cases: [domain: string, pattern: string, matches: boolean][] = [
    ['example.com', 'example.com', true],
    ['a.example.com', 'example.com', true],
    ['a.b.example.com', 'b.example.com', true],
    ['notexample.com', 'example.com', false],
    ['example.com', 'a.example.com', false],
    ['example.com', '', false],
    ['localhost', 'localhost', true],
  ];
  for (const [domain, pattern, matches] of cases)
    assert.equal(domainMatches(domain, pattern), matches, `${domain} ${pattern}`);
});

test('a page is below a site or an address, part by part of the path', () => {
  const page = { canonical_url: 'https://a.bücher.example/Private/notes?x=1' };
  for (const [place, isUnder] of [
    ['bücher.example', true],
    ['https://A.Bücher.example/private/', true],
    ['bücher.example/private/notes', true],
    ['bücher.example/priv', false],
    ['bücher.example/private/notes/deep', false],
    ['other.example', false],
    ['', false],
    [' bücher.example/', true],
    ['bücher.example/Private//', true],
  ] as const)
    assert.equal(isPageUnder({ canonical_url: new URL(page.canonical_url).href }, [place]), isUnder, place);
});

test('a place with letters that URLs escape is found, and one that would match nothing is none', () => {
  const { href } = new URL('https://example.com/Privé/a b/notes');
  for (const place of ['example.com/privé', 'HTTP://example.com/priv%C3%A9/a b/'])
    assert.deepEqual([isPlace(place), isPageUnder({ canonical_url: href }, [place])], [true, true], place);
  for (const place of ['*.example.com', 'example.com/private?x', 'example.com/#a', 'user@example.com', 'a b', '', '/a'])
    assert.deepEqual([isPlace(place), isPageUnder({ canonical_url: href }, [place])], [false, false], place);
});

test('a typed domain becomes a lower-case punycode host without port and trailing dot', () => {
  assert.deepEqual(
    ['Example.COM', ' example.com. ', 'example.com:8080', 'Bücher.example', '[::1]:80', '127.1', 'localhost'].map(
      normalizeDomain,
    ),
    ['example.com', 'example.com', 'example.com', 'xn--bcher-kva.example', '[::1]', '127.0.0.1', 'localhost'],
  );
});

test('what is not a host is refused with the cause', () => {
  assert.deepEqual(
    ['', 'https://example.com', 'a b', 'example..com', '.example.com', 'a.com..', 'exa<mple', '*.example.com'].map(
      normalizeDomain,
    ),
    [
      { invalid: 'domain must not be empty' },
      { invalid: 'domain must be a host name, without scheme, path or spaces' },
      { invalid: 'domain must be a host name, without scheme, path or spaces' },
      { invalid: 'domain must be a host without empty labels' },
      { invalid: 'domain must be a host without empty labels' },
      { invalid: 'domain must be a host without empty labels' },
      { invalid: 'domain must be a valid host name' },
      { invalid: 'domain must not contain *: subdomains are included' },
    ],
  );
});

const label = 'a'.repeat(63);
/** 253 characters. */
const longest = [label, label, label, 'b'.repeat(61)].join('.');
const tooLong = { invalid: 'domain must be a host of at most 253 characters' };

test('a host has at most 253 characters and its labels have 63', () => {
  const tooLongLabel = { invalid: 'domain must be a host whose labels have at most 63 characters' };
  assert.deepEqual(
    [longest, `${longest}.`, `${longest}b`, `${label}a.com`, 'ä'.repeat(63), 'a.'.repeat(5_000_000)].map(
      normalizeDomain,
    ),
    [longest, longest, tooLong, tooLongLabel, tooLongLabel, tooLong],
  );
});

test('a host that is too long is not given to the URL parser, which takes quadratic time for one of marks', () => {
  const parsed = mock.method(URL, 'canParse');
  assert.deepEqual(normalizeDomain(`a${'\u0301\u0316'.repeat(1000)}.com`), tooLong);
  assert.equal(parsed.mock.callCount(), 0);
  parsed.mock.restore();
});

test('the suffixes of a domain are itself and those above it, as long as they can be hosts', () => {
  assert.deepEqual([...domainSuffixes('a.b.com')], ['a.b.com', 'b.com', 'com']);
  assert.deepEqual([...domainSuffixes('localhost')], ['localhost']);
  assert.deepEqual([...domainSuffixes('x'.repeat(300))], []);
  assert.equal([...domainSuffixes(`${'a.'.repeat(100_000)}com`)].length, 126);
});

test('normalising a domain twice changes nothing more', () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string(), fc.string({ unit: 'grapheme' })), (input) => {
      const once = normalizeDomain(input);
      if (typeof once === 'string') assert.equal(normalizeDomain(once), once);
    }),
  );
});

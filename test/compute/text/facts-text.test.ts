import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBeginnings, factsText } from '../../../src/compute/text/facts-text.ts';

const page = { canonical_url: 'https://www.forbes.com/a', domain: 'www.forbes.com', title: 'A title', metadata: null };
const ofDomain = (domain: string) => factsText({ ...page, domain });
const ofPath = (path: string) => factsText({ ...page, title: null, canonical_url: `https://www.forbes.com${path}` });

test('the names in a host are facts: what everybody registers under is none, nor is www', () => {
  assert.equal(ofDomain('www.forbes.com'), 'forbes');
  assert.equal(ofDomain('blogs.news.bbc.co.uk'), 'bbc blogs news');
  assert.equal(ofDomain('someone.github.io'), 'github someone');
  assert.equal(ofDomain('the-verge.com'), 'the verge');
  assert.equal(ofDomain('xn--mnchen-3ya.de'), 'münchen');
  for (const host of ['localhost', '127.0.0.1', '[::1]', 'com']) assert.equal(ofDomain(host), host);
});

test('so are author, site, feed, tags, folder, note, highlights and description, as texts or lists of texts', () => {
  const metadata = {
    author: 'Joseph Cox',
    site_name: 'Motherboard',
    feed_title: 'All',
    tags: ['security', 7, 'phones'],
    folder: 'To read/Later',
    note: 'for the talk',
    highlights: ['Numbers were moved'],
    description: 'On SIM swaps',
    published_at: '2026-01-01',
    lang: { toString: 'en' },
  };
  assert.equal(
    factsText({ ...page, metadata }),
    'forbes\nJoseph Cox\nMotherboard\nAll\nsecurity\nphones\nTo read/Later\nfor the talk\nNumbers were moved\nOn SIM swaps',
  );
});

test('authors may be many, and things with names', () => {
  const named = {
    author: { '@type': 'Person', name: 'Ana Lima' },
    authors: [{ name: 'Bo Ek' }, 'Cy Oz', { name: 3 }, null],
  };
  assert.equal(factsText({ ...page, metadata: named }), 'forbes\nAna Lima\nBo Ek\nCy Oz');
});

test('the words of its address are facts of a page, and its beginnings are known', () => {
  assert.equal(ofPath('/wiki/iPhone手机壳/ตลาด'), 'forbes\nwiki iphone 手机 机壳 ตลาด');
  assert.equal(ofPath('/sites/2019/how-to%20cook/index.html'), 'forbes\nsites how to cook');
  assert.equal(ofPath('/%E4%BD%A0%E5%A5%BD'), 'forbes\n你好');
  assert.equal(ofPath('/a%E4-b'), 'forbes\na e4 b');
  assert.equal(ofPath('/'), 'forbes');
  assert.deepEqual(addressBeginnings('https://www.forbes.com/Sites/%E4%BD%A0/?q=1#a'), [
    'forbes.com',
    'forbes.com/sites',
    'forbes.com/sites/你',
  ]);
  assert.deepEqual(addressBeginnings('https://node.js:8080'), ['node.js:8080']);
  assert.deepEqual(addressBeginnings('no address'), []);
});

test('facts are bounded, and cut between characters', () => {
  const text = factsText({ ...page, metadata: { author: '🜨'.repeat(5000), tags: Array(100).fill('x'.repeat(100)) } });
  assert.ok(text.length <= 4000 && text.isWellFormed());
  assert.equal(text.split('\n')[1].length, 1000);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureModeOf } from '../../../extension/src/rules/capture-mode.ts';
import { exclusionOf, siteOf } from '../../../extension/src/rules/decide.ts';
import { isLocalHost } from '../../../extension/src/rules/local-address.ts';
import { type Settings, settings as schema } from '../../../extension/src/settings.ts';

const now = Date.parse('2026-03-01T10:00:00Z');
const rulesOf = (change: Partial<Settings> = {}) => ({ settings: schema.parse(change), blacklist: [], now });
const ruleOf = (url: string, change: Partial<Settings> = {}) => exclusionOf(url, rulesOf(change));

test('local and private hosts in all their forms are local, public ones are not', () => {
  const local = [
    'localhost router nas.local pc.localdomain fritz.box nas.fritz.box speedport.ip wiki.internal',
    'a.b.home.arpa x.test 127.0.0.1 127.8.8.8 10.1.2.3 172.16.0.1 172.31.255.1 192.168.1.1 169.254.1.1',
    '100.64.0.1 0.0.0.0 [::1] [fe80::1] [fd00::1] [::ffff:7f00:1]',
  ].flatMap((line) => line.split(' '));
  assert.deepEqual(
    local.filter((host) => !isLocalHost(host)),
    [],
  );
  const open = 'example.org 8.8.8.8 172.32.0.1 100.128.0.1 [2606:4700::1111] localhost.example.org a.box'.split(' ');
  assert.deepEqual(open.filter(isLocalHost), []);
});

test('odd spellings of local addresses are seen through', () => {
  for (const url of [
    'http://0x7f.1/',
    'http://2130706433/',
    'http://127.1/',
    'http://LOCALHOST./',
    'http://[0:0:0:0:0:0:0:1]/',
  ]) {
    assert.deepEqual(ruleOf(url), { rule: 'local' }, url);
  }
});

test('addresses that name no page are not captured', () => {
  for (const url of [
    'about:blank',
    'chrome://settings',
    'file:///etc/passwd',
    'data:text/html,x',
    'javascript:1',
    '',
    'x',
  ]) {
    assert.deepEqual(ruleOf(url), { rule: 'scheme' }, url);
  }
});

test('each kind of the built-in list is found, and can be turned off', () => {
  const kinds = {
    bank: ['https://www.paypal.com/activity', 'https://banking.first.example.org/', 'https://meine.bank.example.de/'],
    mail: ['https://mail.google.com/mail/u/0/', 'https://webmail.example.org/', 'https://outlook.office.com/mail'],
    health: ['https://mychart.example.org/', 'https://www.doctolib.de/x'],
    adult: ['https://www.pornhub.com/', 'https://a.xxx/'],
    sign_in: [
      'https://accounts.google.com/',
      'https://example.org/login',
      'https://example.org/users/sign_in'.replace('_', '-'),
    ],
  } as const;
  for (const [kind, urls] of Object.entries(kinds)) {
    for (const url of urls) {
      assert.deepEqual(ruleOf(url), { rule: 'kind', kind }, url);
      assert.equal(ruleOf(url, { defaultKinds: [] }), null, url);
    }
  }
  for (const url of [
    'https://example.org/blog/in',
    'https://www.bankofengland.co.uk/news',
    'https://riverbank.example.org/login-is-hard',
  ]) {
    assert.equal(ruleOf(url), null, url);
  }
});

test('the switch of the longest name counts, above the lists and below the blacklist', () => {
  const sites = { 'example.org': 'off', 'wiki.example.org': 'on', 'login.example.net': 'on' } as const;
  assert.deepEqual(ruleOf('https://www.example.org/', { sites }), { rule: 'site', site: 'example.org' });
  assert.equal(ruleOf('https://de.wiki.example.org/', { sites }), null);
  assert.equal(ruleOf('https://login.example.net/', { sites }), null);
  assert.equal(ruleOf('https://notexample.org/', { sites }), null);
  assert.equal(ruleOf('http://127.0.0.1:8080/x', { sites: { '127.0.0.1': 'on' } }), null);
  const rules = { ...rulesOf({ sites }), blacklist: [{ kind: 'domain' as const, pattern: 'wiki.example.org' }] };
  assert.deepEqual(exclusionOf('https://wiki.example.org/', rules), { rule: 'blacklist', pattern: 'wiki.example.org' });
});

test('a rule for an address matches it as the service compares it', () => {
  const rules = { ...rulesOf(), blacklist: [{ kind: 'url' as const, pattern: 'https://example.org/a' }] };
  const listed = { rule: 'blacklist', pattern: 'https://example.org/a' };
  assert.deepEqual(exclusionOf('https://EXAMPLE.org/a?utm_source=x#part', rules), listed);
  assert.deepEqual(exclusionOf('https://example.org/a', { ...rules, byHand: true }), listed, 'by hand, too');
  assert.equal(exclusionOf('https://example.org/ab', rules), null);
});

test('pauses end by themselves, and only allowed sites is a mode', () => {
  const url = 'https://example.org/';
  assert.deepEqual(ruleOf(url, { pausedUntil: now + 1 }), { rule: 'paused', until: now + 1 });
  assert.equal(ruleOf(url, { pausedUntil: now }), null);
  assert.deepEqual(ruleOf(url, { pausedUntil: 'forever' }), { rule: 'paused', until: 'forever' });
  assert.deepEqual(ruleOf(url, { onlyAllowed: true }), { rule: 'only_allowed' });
  assert.equal(ruleOf(url, { onlyAllowed: true, sites: { 'example.org': 'on' } }), null);
});

test('a pause comes last: a site that nothing is told of is told of in no pause either', () => {
  const paused = { pausedUntil: 'forever', sites: { 'example.org': 'off' } } as const;
  assert.deepEqual(ruleOf('https://news.example.org/', paused), { rule: 'site', site: 'example.org' });
  assert.deepEqual(ruleOf('http://127.0.0.1/', paused), { rule: 'local' });
  assert.deepEqual(ruleOf('https://www.paypal.com/activity', paused), { rule: 'kind', kind: 'bank' });
  assert.deepEqual(ruleOf('https://example.net/', { ...paused, onlyAllowed: true }), { rule: 'only_allowed' });
  const sites = { '127.0.0.1': 'on' } as const;
  assert.deepEqual(ruleOf('http://127.0.0.1/', { ...paused, sites }), { rule: 'paused', until: 'forever' });
});

test('by hand only the blacklist and what is no page count', () => {
  const all = rulesOf({ onlyAllowed: true, pausedUntil: 'forever', sites: { 'example.org': 'off' } });
  for (const url of ['https://example.org/', 'http://localhost/', 'https://mail.google.com/']) {
    assert.equal(exclusionOf(url, { ...all, byHand: true }), null, url);
  }
});

test('PDFs and videos are handed in by their address', () => {
  assert.equal(captureModeOf('https://example.org/paper.PDF?x=1'), 'address');
  assert.equal(captureModeOf('https://www.youtube.com/watch?v=1'), 'address');
  assert.equal(captureModeOf('https://notyoutube.com/watch'), 'html');
  assert.equal(siteOf('https://www.example.org:8080/a'), 'example.org');
});

test('settings of a file are complete, bounded and known', () => {
  assert.deepEqual(schema.parse({}).defaultKinds.length, 5);
  for (const wrong of [
    { activeSeconds: 0 },
    { scrollShare: 2 },
    { unknown: 1 },
    { sites: { a: 'perhaps' } },
    { queueMegabytes: 1.5 },
  ]) {
    assert.equal(schema.safeParse(wrong).success, false, JSON.stringify(wrong));
  }
});

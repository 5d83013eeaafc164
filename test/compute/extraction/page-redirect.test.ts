/** What a page forwards to: the attribute as the HTML standard reads it, and which pages only forward. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extractHtml } from '../../../src/compute/extraction/extract-html.ts';
import { readRefresh, redirectOf } from '../../../src/compute/extraction/page-redirect.ts';
import { recognizeWall } from '../../../src/compute/extraction/recognize-wall.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const address = 'http://old.test/dir/page?x=1';
const base = 'http://base.test/b/';

/** Of a content attribute the delay and target, or null. */
const contents: [content: string, delayS: number, target: string][] = [
  ['0; url=/new', 0, 'http://base.test/new'],
  ['0;URL=new?a=1&b=2#c', 0, 'http://base.test/b/new?a=1&b=2#c'],
  [' \n5 ;\t url \f= \r new', 5, 'http://base.test/b/new'],
  ['5,new', 5, 'http://base.test/b/new'],
  ['5 new', 5, 'http://base.test/b/new'],
  ['5 ; ; new', 5, 'http://base.test/b/;%20new'],
  ['5;url=', 5, base],
  ['0; url="/a b" rest', 0, 'http://base.test/a%20b'],
  [`0; url='/a"b'`, 0, 'http://base.test/a%22b'],
  ['0; "/quoted"', 0, 'http://base.test/quoted'],
  [`0; url='/open`, 0, 'http://base.test/open'],
  ['0; url', 0, 'http://base.test/b/url'],
  ['0; urls=/x', 0, 'http://base.test/b/urls=/x'],
  ['0; u/x', 0, 'http://base.test/b/u/x'],
  ['0; url=url=/x', 0, 'http://base.test/b/url=/x'],
  ['0; url=//other.test/x', 0, 'http://other.test/x'],
  ['1.5.9; url=/x', 1, 'http://base.test/x'],
  ['.5; url=/x', 0, 'http://base.test/x'],
  ['0; url=data:text/html,x', 0, 'data:text/html,x'],
  ['0;', 0, address],
  ['300', 300, address],
];
const noRefreshes = [
  '',
  ' ',
  ';url=/x',
  'url=/x',
  '-1; url=/x',
  '+1; url=/x',
  '5x; url=/x',
  '5"; url=/x',
  '0; url=http://[/',
  '0; url=javascript:alert(1)',
  '0; JavaScript:alert(1)',
];

test('the content of a refresh is read as browsers read it', () => {
  for (const [content, delayS, target] of contents) {
    const refresh = readRefresh(content, base, address);
    assert.deepEqual({ ...refresh, target: refresh?.target.href }, { delayS, target }, content);
  }
  for (const content of noRefreshes) assert.equal(readRefresh(content, base, address), null, content);
});

test('long contents are read in time in proportion', () => {
  for (const part of ['0', ' ', '0 ', '.', ';', 'url=', "'"]) {
    assertGrowsInProportion(
      200_000,
      (length) => `0${part.repeat(length / part.length)}\u0000`,
      (content) => readRefresh(content, base, address),
      part,
    );
  }
});

function forwarded(html: string, refresh?: string): string | null {
  const page = extractHtml(html, '');
  return redirectOf({ html, text: page.text, address, wall: recognizeWall({ ...page, html }), refresh });
}

const meta = (content: string) => `<meta http-equiv="refresh" content="${content}">`;
const toNew = meta('0; url=/new');
const words = (length: number) => 'The keeper opens the lock. '.repeat(length / 26).slice(0, length);
const there = 'http://old.test/new';

const pages: Record<string, [html: string, forward: string | null]> = {
  'an empty page': [toNew, there],
  'a page with a notice': [
    `<title>Moved</title>${toNew}<p>This page has been moved. <a href="/new">Go on</a></p>`,
    there,
  ],
  'capitals, no quotes, references': ['<META HTTP-EQUIV=ReFresh CONTENT="0;URL=/new?a=1&amp;b=2">', `${there}?a=1&b=2`],
  'a forward in the body': [`<html><head></head><body><p>Moved</p>${toNew}</body></html>`, there],
  'the first of two': [`${toNew}${meta('0; url=/newer')}`, there],
  'the first that is one': [`${meta('0; url=javascript:go()')}${meta('soon')}${toNew}`, there],
  'an address relative to a base': [
    `<base target="_top"><base href="/b/"><base href="/c/">${meta('0; url=n')}`,
    'http://old.test/b/n',
  ],
  'a base that is none': [`<base href="data:text/plain,x">${meta('0; url=n')}`, 'http://old.test/dir/n'],
  'a shortener that forwards by script, and without one': [
    `<head><noscript><META http-equiv="refresh" content="0;URL=/new"></noscript><title>${there}</title></head><script>location.replace("\\/new")</script>`,
    there,
  ],
  'an empty shell that asks for scripts': [
    `<noscript>${toNew}</noscript><body><noscript>Please enable JavaScript to go on.</noscript><div id="app"></div>`,
    there,
  ],
  'ten seconds': [meta('10; url=/new'), there],
  'eleven seconds': [meta('11; url=/new'), null],
  'as much text as a notice has': [`${toNew}<p>${words(400)}</p>`, there],
  'an article': [`${toNew}<article><h1>Locks</h1><p>${words(800)}</p></article>`, null],
  'a forward without scripts, on a page with text': [`<noscript>${toNew}</noscript><p>Some words.</p>`, null],
  'news that load themselves anew': [`${meta('300')}<p>News</p>`, null],
  'a page that loads itself at once': [meta('0'), null],
  'its own address in full': [meta(`0; url=${address}`), null],
  'its own address with a name and password': [meta('0; url=http://me:pw@old.test/dir/page?x=1'), null],
  'its own address with a fragment': [meta('0; url=?x=1#top'), null],
  'its own path with another query': [meta('0; url=?x=2'), 'http://old.test/dir/page?x=2'],
  'a long address': [meta(`0; url=/${'a'.repeat(8000)}`), `http://old.test/${'a'.repeat(8000)}`],
  'an address that is far too long': [meta(`0; url=/${'a'.repeat(1_000_000)}`), null],
  'a script': [meta('0; url=javascript:alert(1)'), null],
  data: [meta('0; url=data:text/html,hello'), null],
  'a file': [meta('0; url=file:///etc/passwd'), null],
  'an app': [meta('0; url=intent://open#Intent;end'), null],
  'a comment': [`<!-- ${toNew} -->`, null],
  'text and what is not shown': [
    ['script', 'style', 'title', 'textarea', 'template', 'xmp', 'iframe', 'noembed', 'noframes']
      .map((name) => `<${name}>${toNew}</${name}>`)
      .join(''),
    null,
  ],
  'an error that sends home': [`<title>404 Not Found</title>${meta('5; url=/')}<h1>404 Not Found</h1>`, null],
  'a captcha': [`${toNew}<title>Just a moment...</title><div id="challenge-form"></div>`, null],
  'a login': [`${toNew}<title>Log in</title><h1>Log in</h1><input type="password">`, null],
};

for (const [name, [html, forward]] of Object.entries(pages)) {
  test(`${forward === null ? 'no forward' : 'a forward'}: ${name}`, () => assert.equal(forwarded(html), forward));
}

/** Latin-1, as Node gives the bytes of a header. */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

const headers: Record<string, [refresh: string, html: string, forward: string | null]> = {
  'nothing else': ['0; url=/new', '', there],
  'a notice': ['10;URL="/new"', '<p>This page has been moved.</p>', there],
  'the header before the element': ['0; url=/new', meta('0; url=/newer'), there],
  'no base for the header': ['0; url=n', '<base href="/b/">', 'http://old.test/dir/n'],
  'a header that is none, and an element': ['soon', toNew, there],
  'bytes beyond ASCII as they came': [`0; url=${bytesOf('/é')}?q=\xe9`, '', 'http://old.test/%C3%A9?q=%E9'],
  'a name beyond ASCII': [`0; url=${bytesOf('http://bücher.test/')}`, '', 'http://xn--bcher-kva.test/'],
  'the page itself, in spite of the element': ['5', toNew, null],
  'the page itself in full': [`0; url=${address}#top`, '<p>News</p>', null],
  'eleven seconds': ['11; url=/new', '', null],
  'an article': ['0; url=/new', `<article><h1>Locks</h1><p>${words(800)}</p></article>`, null],
  'a script': ['0; url=javascript:alert(1)', '', null],
  'a file': ['0; url=file:///etc/passwd', '', null],
  'an address that is far too long': [`0; url=/${'a'.repeat(60_000)}`, '', null],
  'a captcha': ['0; url=/new', '<title>Just a moment...</title><div id="challenge-form"></div>', null],
  'an error that sends home': ['5; url=/', '<title>404 Not Found</title><h1>404 Not Found</h1>', null],
};

for (const [name, [refresh, html, forward]] of Object.entries(headers)) {
  test(`${forward === null ? 'no forward' : 'a forward'} by the header: ${name}`, () =>
    assert.equal(forwarded(html, refresh), forward));
}

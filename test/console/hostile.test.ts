/**
 * Texts that others wrote, in every view. Whatever the service tells of pages, names, topics, feeds, files, tokens and errors is put in the place of every
 * text of its answers, so that no field is forgotten: shown as text, isolated in its direction, and nothing of the layout gives way. So are the strings
 * of the Big List of Naughty Strings, one after the other. And half of the real pages, as they are.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { haveRealPages, realPagesDir } from '../../bench/real-pages.ts';
import { withEntities } from '../process/service.ts';
import { overhang, skip } from './browser.ts';
import { handIn, plainPages } from './library.ts';
import { sharedConsole } from './shared-console.ts';

function realPages(): object[] {
  const lines = readFileSync(join(realPagesDir, 'pages.jsonl'), 'utf8').trim().split('\n');
  return lines
    .filter((_, at) => at % 2 === 0)
    .map((line) => JSON.parse(line) as { file: string; url: string; title: string })
    .map(({ file, url, title }) => ({ url, title, body_html: readFileSync(join(realPagesDir, file), 'utf8') }));
}

const shared = sharedConsole(plainPages, { ...withEntities, SERVICE_JOBS__MAX_ATTEMPTS: '1' }, async (service) => {
  await service.call('POST', '/v1/watches', { url: 'https://feed.invalid/', title: 'A feed', enabled: false });
  await service.call('POST', '/v1/tokens', { name: 'a reader', scopes: ['read'] });
  const bookmarks = '<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><DL></DL>';
  const headers = { 'content-type': 'application/octet-stream' };
  await service.call('POST', '/v1/imports?name=bookmarks.html', bookmarks, { headers });
});

const family = '👩\u200D👩\u200D👧\u200D👦';
const naughtyStrings: string[] = createRequire(import.meta.url)('big-list-of-naughty-strings');
/** What texts are, and the texts, of which each of an answer is the next. */
const hostile: readonly [string, readonly string[]][] = [
  [
    'markup, attributes, templates and an address that runs',
    [
      `javascript:attacked=1//</bdi></p><script>attacked=1</script><img src=x onerror="attacked=1"><svg onload=attacked=1>"' onfocus=attacked=1 autofocus x='\`
     onmouseover="attacked=1" {{constructor.constructor("attacked=1")()}} \${attacked=1} <%= attacked=1 %> %s %n __proto__ constructor`,
    ],
  ],
  [
    'directions, controls, line ends, marks upon marks and halves of a pair',
    [
      `\u202Egpj.exe\u2066\u202B never closed مرحبا بالعالم (שלום) 2024 a\u0000b\r\nc\rd\u2028f\u2029g\th\u001B[31mi\u0007
     Z${'\u0351\u036B\u0343\u0363\u0344'.repeat(60)}algo \uD83D alone \uDE00`,
    ],
  ],
  ['one long word, and one of emoji', [`${'x'.repeat(2000)} ${family.repeat(150)}`]],
  ['nothing to see', [' \u00A0\u3000\u2003\u200B\u200C\u200D\uFEFF\u2060\u00AD ']],
  ['one of the published list of naughty strings', naughtyStrings],
];

/** Fields of answers that hold what others wrote. */
const textFields = new Set(
  `title label keywords name names canonical_form surface_forms kept_form merged_form section_title last_error error detail reason text pattern dir
  url canonical_url link domain author site_name source model_name provider word taken query_text user_agent file format description holder library`
    .split(/\s+/)
    .filter((name) => name !== ''),
);
/** What is null in this library for want of trouble. */
const errorFields = new Set(['last_error', 'error', 'author', 'section_title', 'label', 'title']);

function poison(value: unknown, next: () => string, isText = false): unknown {
  if (typeof value === 'string') return isText ? next() : value;
  if (Array.isArray(value)) return value.map((each) => poison(each, next, isText));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner === null && errorFields.has(name) ? next() : poison(inner, next, textFields.has(name)),
    ]),
  );
}

const viewsWith = (): readonly [string, string][] => [
  ['search', '.recent'],
  ['search?q=governor', '[data-result]'],
  ['ask?q=what+does+a+governor+keep', '.turn .quotes, .turn .empty'],
  ['time', '.calendar'],
  ['topics', '.topic-card'],
  ['map', '.map-side li a'],
  ['names', '.name-tags'],
  ['sources', '.rows .row'],
  ['jobs', '.job-row'],
  ['models', '.row'],
  ['system', '.disk-parts'],
  [`page/${shared.ids[0]}`, '.page-title'],
];

/** Texts with a direction of their own that nothing isolates from what stands beside them in their line. */
const unisolated = (page: Page) =>
  page.evaluate(() => {
    const faults: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (!/[\u202A-\u202E\u2066-\u2069\u0590-\u06FF]/.test(node.textContent ?? '')) continue;
      const element = node.parentElement;
      if (element === null || ['OPTION', 'SCRIPT', 'STYLE'].includes(element.tagName)) continue;
      let isIsolated = false;
      for (let at: Element | null = element; at !== null && !isIsolated; at = at.parentElement) {
        const { unicodeBidi, display } = getComputedStyle(at);
        isIsolated = /isolate|plaintext/.test(unicodeBidi) || at.tagName === 'text';
        if (display !== 'inline' && display !== 'contents') break;
      }
      if (!isIsolated) faults.push(element.outerHTML.slice(0, 200));
    }
    return faults;
  });

for (const [what, texts] of hostile) {
  test(`every text of every answer is ${what}: views show it as text, and keep their layout`, { skip }, async () => {
    const viewport = { width: 360, height: 740 };
    const { page, show } = await shared.signedIn({ viewport, allowed: /ERR_FAILED|ERR_ABORTED/ });
    let taken = 0;
    const next = () => texts[taken++ % texts.length];
    await page.route('**/v1/**', async (route) => {
      if (route.request().url().endsWith('/v1/events')) return route.continue();
      try {
        const response = await route.fetch();
        if (response.status() >= 300 || response.status() === 204) return await route.fulfill({ response });
        await route.fulfill({ response, json: poison(await response.json(), next) });
      } catch {
        await route.abort().catch(() => undefined); // whoever asked has gone on to the next view
      }
    });
    await page.reload();
    // Marks upon marks are drawn far beside their letter, which is why `main` clips: of them the page alone is told.
    const measured = texts.some((text) => /\p{M}{9}/u.test(text)) ? 'html' : 'html, main';
    const wrong: string[] = [];
    do {
      for (const [fragment, ready] of viewsWith()) {
        await show(`#/${fragment}`);
        await page.locator(ready).first().waitFor({ state: 'attached' });
        await page.locator('main [data-action="why"]').evaluateAll((buttons) => {
          for (const button of buttons) (button as HTMLElement).click();
        });
        wrong.push(...(await unisolated(page)).map((element) => `${fragment} does not isolate ${element}`));
        const seen = await page.evaluate(() => ({
          attacked: (globalThis as { attacked?: unknown }).attacked,
          foreign: document.querySelectorAll('main img, main script, main iframe, main [onload], main [onerror]')
            .length,
          runs: [...document.querySelectorAll('a')].filter(({ protocol }) => !/^https?:$/.test(protocol)).length,
        }));
        for (const [what, value] of Object.entries({ ...seen, overhang: await overhang(page, measured) }))
          if (value) wrong.push(`${fragment}: ${what} ${value}`);
      }
    } while (taken < texts.length);
    assert.deepEqual(wrong, []);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
}

test('the real pages are shown as they are, narrow and wide', {
  skip: skip !== false ? skip : haveRealPages ? false : `the real pages are not at ${realPagesDir}`,
}, async () => {
  const { page, show } = await shared.signedIn();
  // Whether they have vectors is not looked at.
  await shared.service.pauseVectors();
  const realIds = await handIn(shared.service, realPages());
  await shared.service.indexed(realIds);
  const fits = async (what: string) => {
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 740 });
      assert.equal(await overhang(page), 0, `${what} at ${width} is too wide`);
    }
  };
  for (const id of realIds) {
    const { body } = await shared.service.call<{ title: string }>('GET', `/v1/pages/${id}`);
    await show(`#/page/${id}`);
    await page.locator('.page-title', { hasText: body.title }).waitFor();
    await page.locator('.prose').waitFor();
    await fits(body.title);
  }
  for (const query of ['facebook', 'obama gun laws', 'minecraft exploit', 'the']) {
    await show(`#/search?q=${encodeURIComponent(query)}`);
    await page.locator('.results[aria-busy="false"] [data-result]').first().waitFor();
    await fits(query);
  }
  assert.equal(await page.locator('main img, main script').count(), 0);
});

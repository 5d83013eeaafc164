/** The console in Debian's Firefox ESR: every view, a search from the first key to the page and back, and what is asked before a page is forgotten. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FirefoxTab, skipFirefox, startFirefox } from '../extension-browser/firefox.ts';
import { RunningService } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { fillLibrary, plainPages } from './library.ts';

/** Views, and what is there once each has loaded. */
const views = [
  ['search', '.recent li'],
  ['ask?q=what+does+a+governor+keep', '.turn .quotes, .turn .empty'],
  ['time', '.calendar .day:not(.level-0)'],
  ['topics', '.topic-card'],
  ['names', '.view h1'],
  ['map', '.map-side li a'],
  ['sources', '.drop'],
  ['jobs', '.job-row'],
  ['models', '.row'],
  ['system', '.tile'],
] as const;
const [escapeKey, enter, down] = ['\uE00C', '\uE007', '\uE015'];

test('the console works in Firefox', { skip: skipFirefox }, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope, { SERVICE_CLUSTER__MIN_PAGES: '5' });
  await fillLibrary(service, plainPages);
  const { session } = await startFirefox(scope);
  const faults: string[] = [];
  session.onEvent = (_, { level, text }) => {
    if (level === 'error' || level === 'warn') faults.push(String(text));
  };
  await session.command('session.subscribe', { events: ['log.entryAdded'] });
  const { body } = await service.call<{ url: string }>('POST', '/v1/codes', { purpose: 'session' });
  const tab = await FirefoxTab.open(session, new URL(new URL(body.url).hash, service.url).href);
  const there = (selector: string) => tab.until(`document.querySelector(${JSON.stringify(selector)})`);
  const show = (fragment: string) => tab.evaluate(`void (location.hash = ${JSON.stringify(fragment)})`);
  await there('.search-box input');

  for (const [width, height] of [
    [1280, 900],
    [360, 740],
  ]) {
    await tab.resize(width, height);
    for (const [view, ready] of views) {
      await t.test(`${view}, ${width} px wide`, async () => {
        await show(`#/${view}`);
        await there(ready);
        const overhang = await tab.evaluate<number>(
          "Math.max(...[...document.querySelectorAll('html, main')].map((box) => box.scrollWidth - box.clientWidth))",
        );
        assert.equal(overhang, 0, 'it is no wider than its room');
      });
    }
  }

  await t.test('a search, from the first key to the page and back', async () => {
    await tab.resize(1280, 900);
    await show('#/search');
    await there('.recent li');
    await tab.clickOn("document.querySelector('.search-box input')");
    await tab.press('steam eng');
    await tab.until("document.querySelectorAll('[data-result]').length === 2");
    await there('[data-result] mark');
    await tab.press('ine');
    await tab.until('/q=steam\\+engine/.test(location.hash)');
    await there('.results[aria-busy="false"]');
    const isAtResult = "document.activeElement.className === 'result-title'";
    // Past the suggestions.
    for (let keys = 0; keys < 12 && !(await tab.evaluate(isAtResult)); keys++) await tab.press(down);
    await tab.until(isAtResult);
    await tab.evaluate('document.querySelector(\'[data-result] a[href^="#/page"]\').click()');
    await there('.prose');
    await tab.evaluate('history.back()');
    await tab.until("document.querySelectorAll('[data-result]').length === 2");
    assert.equal(await tab.evaluate("document.querySelector('.search-box input').value"), 'steam engine');
  });

  await t.test('a day is a step, and Back takes it away', async () => {
    await show('#/time');
    await there('.calendar');
    const from = 'document.querySelector(\'input[type="date"]\')';
    await tab.evaluate(`(() => {
      const field = ${from};
      field.focus();
      field.value = '2026-01-02';
      for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, { bubbles: true }));
    })()`);
    await tab.until('/from=2026-01-02/.test(location.hash)');
    await tab.evaluate('history.back()');
    await tab.until(`${from}.value === ''`);
  });

  await t.test('what is asked before a site is blocked is closed by Escape', async () => {
    await show('#/search?q=sourdough');
    await there('[data-result]');
    await tab.evaluate('document.querySelector(\'[data-result] a[href^="#/page"]\').click()');
    await there('.passage-mark');
    await tab.click('Block site…');
    await there('dialog[open]');
    await tab.press(escapeKey);
    await tab.until("document.querySelector('dialog[open]') === null");
    assert.equal(await tab.evaluate('document.activeElement.textContent'), 'Block site…');
    await tab.press(enter);
    await tab.click('Delete site and block it');
    await tab.until("/deleted from the store/.test(document.querySelector('dialog[open]').textContent)");
    await tab.clickOn('document.querySelector(\'dialog[open] [aria-label="Close"]\')');
    await tab.until('/^#.search/.test(location.hash)');
  });
  assert.deepEqual(faults, []);
});

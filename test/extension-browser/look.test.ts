/**
 * The pages of the extension as they look, in both languages, and the popup as the toolbar opens it: no fault that axe-core finds, nothing wider than the window, no text
 * without a translation. `READBACK_TEST_PICTURES=folder` keeps a picture of each.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { skipChromium } from '../chromium.ts';
import { accessibilityFaults } from '../console/browser.ts';
import { RunningService } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { ChromiumWithExtension, extensionIn, lookAtRealPopup } from './chromium.ts';
import { article, Site } from './site.ts';

const news = 'http://news.example.org';
const pictures = process.env.READBACK_TEST_PICTURES;

test('the pages of the extension can be read by everybody', { skip: skipChromium }, async (t) => {
  const scope = newestFirst(t);
  const service = await RunningService.start(scope);
  const site = await Site.open(scope);
  const url = `${news}/article/herons`;
  for (const [n, topic] of ['herons', 'egrets', 'storks'].entries()) {
    const page = { url: `${news}/article/${topic}`, body_html: article(topic) };
    await service.add({ ...page, fetched_at: `2026-0${n + 1}-05T12:00:00Z` });
  }
  await service.call('POST', '/v1/pages', { url, fetched_at: '2026-03-05T12:00:00Z' });

  for (const language of ['en', 'de']) {
    await t.test(language, async (t) => {
      const scope = newestFirst(t);
      const loaded = extensionIn(scope, language);
      const browser = await ChromiumWithExtension.start(scope, site, { loaded, locale: language });
      const faults: string[] = [];
      /** Look at a page as it is, at each width; `ready` is there when it shows what it has to say. Faults and contrasts are the same in every language. */
      const look = async (name: string, page: Page, ready: string, widths: readonly number[]) => {
        await page.locator(ready).first().waitFor();
        assert.equal((await page.evaluate(() => document.documentElement.lang)).slice(0, 2), language);
        // A text that lacks shows its name.
        const nameless = /\b[a-z]+_[a-z_]+\b/.exec(await page.locator('body').innerText());
        if (nameless !== null) faults.push(`${name}: ${nameless[0]} has no text`);
        for (const width of widths) {
          await page.setViewportSize({ width, height: 700 });
          const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          if (overhang > 0) faults.push(`${name} at ${width} is ${overhang} too wide`);
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            if (pictures !== undefined) {
              mkdirSync(pictures, { recursive: true });
              const path = join(pictures, `${name}-${language}-${colorScheme}-${width}.png`);
              await page.screenshot({ path, fullPage: true });
            }
            if (language !== 'en' || width !== widths[0]) continue;
            const rules = colorScheme === 'light' ? undefined : ['color-contrast'];
            for (const fault of await accessibilityFaults(page, rules))
              faults.push(`${name}, ${colorScheme}: ${fault}`);
          }
        }
        await page.close();
      };
      const popup = [360];
      const wide = [1000, 360];

      const tab = await browser.context.newPage();
      await tab.goto(url);
      // Of these texts, and not the browser's own language's.
      const texts = join(import.meta.dirname, '../../extension/_locales', language, 'messages.json');
      const { not_paired, refused_url } = JSON.parse(readFileSync(texts, 'utf8'));
      const unpaired = await browser.popupOf(url);
      await unpaired.getByText(not_paired.message).waitFor();
      await look('popup-unpaired', unpaired, '.main', popup);
      await look('welcome-unpaired', await browser.open('welcome.html'), 'form', wide);

      /** The popup itself, whose window the browser makes as wide as what is in it, within its own: as wide as that of a new tab. */
      const lookAtReal = async (url: string, ready: string) => {
        const tab = await browser.context.newPage();
        await tab.goto(url);
        const control = await browser.control();
        await tab.bringToFront();
        await lookAtRealPopup((expression) => control.evaluate(expression), ready);
        await tab.close();
      };
      await lookAtReal(url, '.main');

      await browser.pair(service);
      await lookAtReal(url, '.results');
      await look('welcome-paired', await browser.open('welcome.html'), '#import', wide);
      await look('popup-page', await browser.popupOf(url), '.results', popup);

      const asking = await browser.popupOf(url);
      await asking.locator('.card .plain').first().click();
      await look('popup-forget', asking, '[role=alertdialog]', popup);
      const searching = await browser.open('popup.html?search=herons');
      await look('popup-search', searching, '.results mark', popup);
      await tab.goto('http://banking.example.org/article/loans');
      await lookAtReal('http://banking.example.org/article/loans', '.quiet');
      await look('popup-excluded', await browser.popupOf('http://banking.example.org/article/loans'), '.quiet', popup);

      await browser.ask('switchSite', { site: 'diary.example.org', to: 'off' });
      await browser.ask('switchSite', { site: 'wiki.example.org', to: 'on' });
      const given = { title: 'A page with a long title about glaciers and their slow ways', html: null, metadata: {} };
      const captured = (url: string) =>
        browser.ask('captured', { ...given, url, visitedAt: Date.parse('2026-03-01T10:00:00Z'), byHand: false });
      await captured(`${news}/${'long/'.repeat(1700)}`);
      await browser.ask('sendNow', null);
      await service.stop();
      await captured(`${news}/article/waits`);
      await browser.ask('sendNow', null);
      const options = await browser.open('options.html');
      await options.locator('.reason', { hasText: refused_url.message }).waitFor();
      await look('options', options, '.tag.refused', wide);
      await tab.goto(`${news}/article/waits`);
      await look('popup-away', await browser.popupOf(`${news}/article/waits`), '.card .warn', popup);
      await service.start();
      assert.deepEqual(faults, []);
    });
  }
});

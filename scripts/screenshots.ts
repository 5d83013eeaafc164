/**
 * Pictures of the console over a demo library, for docs/images and for eyes: light and dark, wide and narrow. The library is made of the public data
 * sets beside the checkout where they are, and of the demo pages. Needs Chromium.
 *
 *   npm run screenshots [-- folder]     every view goes to the folder; without one, the few of the docs to docs/images
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { runService } from '../bench/running-service.ts';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { type DemoPage, demoSubmissions } from '../src/domain/demo.ts';
import type { IngestPageRequest } from '../src/domain/page.ts';
import type { SearchResponse } from '../src/domain/search.ts';

const root = join(import.meta.dirname, '..');
const articles = join(root, '../shared/data/topics/squad-articles.jsonl');
const news = join(root, '../shared/data/topics/ag-news.jsonl');
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (executablePath === undefined) {
  console.error('no Chromium is installed');
  process.exit(1);
}
const [folder] = process.argv.slice(2);
const outDir = folder ?? join(root, 'docs/images');
mkdirSync(outDir, { recursive: true });

const query = 'oil crisis embargo';
const wide = { width: 1280, height: 820 };
const narrow = { width: 360, height: 740 };

/** Name, fragment, and what has to be there before the picture is taken; `page` is the id of a page that the search finds. */
const viewsWith = (page: string): readonly [string, string, string][] => [
  ['page', `page/${page}`, '.page-side .similar li a'],
  ['search', `search?q=${encodeURIComponent(query)}`, '.filters .facet-row'],
  ['landing', 'search', '.recent'],
  ['ask', `ask?q=${encodeURIComponent('Why did oil prices rise in 1973?')}`, '.turn .quotes'],
  ['time', 'time', '.calendar .day:not(.level-0)'],
  ['topics', 'topics', '.topic-card'],
  ['names', 'names', '.name-tags .tag'],
  ['map', 'map', '.map-side li a'],
  ['map-search', `map?q=${encodeURIComponent(query)}`, '#lit ~ ul a'],
  ['sources', 'sources', '.drop'],
  ['jobs', 'jobs', '.job-row'],
  ['models', 'models', '.row'],
  ['system', 'system', '.tile'],
];
const forDocs = new Set([
  'search-light-1280',
  'search-dark-1280',
  'search-dark-360',
  'map-dark-1280',
  'time-light-1280',
]);

/** The same each time, but for the day. */
const random = seededRandom(7);
const sometime = () => new Date(Date.now() - 3_600_000 - random() ** 1.7 * 420 * 86_400_000).toISOString();

interface Row {
  _id: string;
  title: string;
  text: string;
  label: string;
}
const rowsOf = (path: string): Row[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

const passagesOfPage = 6;
const newsItems = 600;
const newsSites: Record<string, string[]> = {
  Business: ['ledger.example', 'harbour-trade.example'],
  'Sci/Tech': ['orbit.example', 'silicon.example', 'labnotes.example'],
  Sports: ['fulltime.example', 'courtside.example'],
  World: ['dispatch.example', 'meridian.example'],
};

function demoPages(): IngestPageRequest[] {
  const demo: DemoPage[] = JSON.parse(readFileSync(join(root, 'models/demo.json'), 'utf8'));
  const pages = demo.flatMap((page) => demoSubmissions(page, Date.now()));
  const texts = new Map<string, string[]>();
  for (const { _id, text } of rowsOf(articles)) {
    const name = _id.split('#')[0];
    texts.set(name, [...(texts.get(name) ?? []), text]);
  }
  for (const [name, passages] of texts) {
    const title = name.replaceAll('_', ' ');
    for (let at = 0; at < passages.length; at += passagesOfPage) {
      pages.push({
        url: `https://en.wikipedia.org/wiki/${name}${at === 0 ? '' : `?part=${at}`}`,
        title: at === 0 ? title : `${title}, part ${at / passagesOfPage + 1}`,
        body_extracted: passages.slice(at, at + passagesOfPage).join('\n\n'),
        fetched_at: sometime(),
      });
    }
  }
  rowsOf(news)
    .slice(0, newsItems)
    .forEach(({ _id, title, text, label }, at) => {
      const sites = newsSites[label] ?? ['news.example'];
      pages.push({
        url: `https://${sites[at % sites.length]}/${_id}`,
        title,
        body_extracted: text,
        fetched_at: sometime(),
      });
    });
  return pages;
}

const service = await runService({ SERVICE_CLUSTER__MIN_PAGES: '4' });
const browser = await chromium.launch({
  executablePath,
  args: ['--headless=new', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
try {
  const pages = demoPages();
  for (let at = 0; at < pages.length; at += 50) {
    await service.call('POST', '/v1/pages/batch', { pages: pages.slice(at, at + 50) });
  }
  console.log(`${pages.length} pages went in; waiting until they are indexed and their names and topics found`);
  await until(async () => {
    const { body } = await service.call('GET', '/v1/admin/metrics/summary');
    return (body as { jobs: { queue_depth: number; by_status: Record<string, number> } }).jobs.queue_depth === 0;
  });
  await service.call('POST', '/v1/clusters/recompute');
  await until(async () => {
    const { body } = await service.call('GET', '/v1/clusters/runs');
    return (body as { runs: { finished_at: string | null }[] }).runs[0]?.finished_at != null;
  });
  // The first of their kind load what searches need, and would be in the picture with their time.
  const search = () => service.call('POST', '/v1/search', { query, operators: true, chunks_per_page: 3 });
  for (let times = 0; times < 20; times++) await search();
  const views = viewsWith(((await search()).body as SearchResponse).results[0].page_id);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [wide, narrow]) {
      const phone = viewport === narrow ? { hasTouch: true, isMobile: true } : {};
      const shown = { viewport, colorScheme, locale: 'en-GB', reducedMotion: 'reduce' } as const;
      const context = await browser.newContext({ ...shown, ...phone });
      const page = await context.newPage();
      const { body } = await service.call('POST', '/v1/codes', { purpose: 'session' });
      const { url } = body as { url: string };
      await page.goto(url);
      await page.locator('.search-box').waitFor();
      for (const [name, fragment, ready] of views) {
        const picture = `${name}-${colorScheme}-${viewport.width}`;
        if (folder === undefined && !forDocs.has(picture)) continue;
        await page.evaluate(`location.hash = '#/${fragment}'`);
        await page.locator(ready).first().waitFor({ state: 'attached' });
        await page.waitForLoadState('networkidle');
        await page.evaluate('document.activeElement?.blur()');
        await page.screenshot({ path: join(outDir, `${picture}.png`) });
        console.log(join(outDir, `${picture}.png`));
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  await service.stop();
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 500));
}

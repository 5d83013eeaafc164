/**
 * From keys to results in the console, over a library of many passages: in a real Chromium, the service on the same cores. `npm run bench -- console`; prints
 * JSON. A query is typed as somebody types; each answer that is shown is one measurement:
 *
 *   service     from the request's send to the last byte of the answer
 *   console     from there until the results are painted: parsing, rendering, layout, the wait for the frame
 *   sent        both together
 *   key         from the last key, so with the pause of 60 ms that the console waits for the next key
 *
 * Beside the times, the processor time that the page's main thread, all of the browser and the service took for a key, whatever else the machine did.
 *
 *   npm run bench -- console --collection boolq-valtest --collection clapnq-dev     texts and queries of ../shared/data/ir, in place of invented words
 *   npm run bench -- console --keep FOLDER     keeps the data folder, and uses it if it is there
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { chromiumArgs, chromiumPath } from '../../test/chromium.ts';
import { missingCollection, openCollections } from '../collection-library.ts';
import { fill, latency, pagesOf } from '../http-load.ts';
import { describeMachine } from '../machine.ts';
import { runService } from '../running-service.ts';
import { openWorkload } from '../workload.ts';

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '100000' },
    queries: { type: 'string', default: '30' },
    collection: { type: 'string', multiple: true, default: [] },
    keep: { type: 'string' },
  },
});
const seed = 42;
const wordsPerPage = 1000;
const chunksPerPage = 3;
const wordsTyped = 3;

/** What the library is filled with, and what is typed. */
function openLibrary() {
  const { collection: names } = values;
  if (names.length === 0) {
    const workload = openWorkload({ seed, wordsPerChunk: wordsPerPage });
    const typed = (number: number) => workload.query(number).words.slice(0, wordsTyped).join(' ');
    return { pageAt: pagesOf(workload), typed };
  }
  const { pageAt, queries } = openCollections(names, seed);
  return {
    pageAt: (number: number) => pageAt(number, wordsPerPage),
    typed: (number: number) => queries[number % queries.length],
  };
}

/** Between two keys, ms: a request for each is sent. */
const keyEveryMs = 150;

interface Shown {
  service: number;
  console: number;
  sent: number;
  key: number;
  /** Whether it was asked for while typing. */
  isPassing: boolean;
  /** What the service says of its stages. */
  stages: Record<string, number>;
}

/** Runs in the page: notes when requests for results are sent and answered, and when what they brought is painted. */
function watch() {
  const shown: Shown[] = [];
  (globalThis as unknown as { shown: Shown[] }).shown = shown;
  let keyAt = 0;
  addEventListener(
    'keydown',
    ({ timeStamp }) => {
      keyAt = timeStamp;
    },
    true,
  );
  let answered:
    | (Pick<Shown, 'isPassing' | 'stages'> & { sentAt: number; answeredAt: number; keyAt: number })
    | undefined;
  /** What an answer changes; where its results are the same, only the line that says how long it took. */
  const changing = '.results, .search-status';
  const send = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const asked = String(input) === '/v1/search' ? JSON.parse(String(init?.body)) : undefined;
    if (asked?.chunks_per_page === undefined || asked.chunks_per_page === 0) return send(input, init);
    answered = undefined;
    const [sentAt, keyBefore] = [performance.now(), keyAt];
    const response = await send(input, init);
    const { json } = response;
    response.json = async () => {
      const text = await response.text();
      const answeredAt = performance.now();
      const answer = JSON.parse(text) as Awaited<ReturnType<typeof json>>;
      answered = { sentAt, answeredAt, keyAt: keyBefore, isPassing: asked.log === false, stages: answer.timing_ms };
      return answer;
    };
    return response;
  };
  const painted = new MessageChannel();
  let waiting: typeof answered;
  painted.port1.onmessage = () => {
    if (waiting === undefined) return;
    const { sentAt, answeredAt, keyAt: at, isPassing, stages } = waiting;
    const now = performance.now();
    shown.push({
      service: answeredAt - sentAt,
      console: now - answeredAt,
      sent: now - sentAt,
      key: now - at,
      isPassing,
      stages,
    });
    waiting = undefined;
  };
  new MutationObserver((changes) => {
    if (answered === undefined) return;
    if (
      !changes.some(({ target }) => (target as Element).closest?.(changing) || target.parentElement?.closest(changing))
    )
      return;
    waiting = answered;
    answered = undefined;
    // A message that is sent in a frame comes behind its painting.
    requestAnimationFrame(() => painted.port2.postMessage(null));
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
}

const missing = missingCollection(values.collection);
if (missing !== null) {
  process.stderr.write(`bench: skipped, ${missing}\n`);
  process.exit();
}
const kept = values.keep !== undefined && existsSync(values.keep);
const service = await runService({
  SERVICE_ENTITY__ENABLED: 'false',
  SERVICE_CLUSTER__ENABLED: 'false',
  ...(values.keep === undefined ? {} : { SERVICE_DATA_DIR: values.keep }),
});
const browser = await chromium.launch({ executablePath: chromiumPath, args: [...chromiumArgs] });
try {
  const { pageAt, typed } = openLibrary();
  if (!kept) {
    await fill(service, pageAt, { to: Math.ceil(Number(values.chunks) / chunksPerPage) });
    await service.restart();
  }
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  await page.addInitScript(watch);
  const { body } = await service.call('POST', '/v1/codes', { purpose: 'session' });
  await page.goto((body as { url: string }).url);
  const box = page.getByRole('combobox', { name: 'Search what you have read' });
  await box.waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const wholeBrowser = await browser.newBrowserCDPSession();
  const processorMs = async () => {
    const { processInfo } = await wholeBrowser.send('SystemInfo.getProcessInfo');
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string) => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? 0);
    return {
      script: of('ScriptDuration'),
      style: of('RecalcStyleDuration'),
      layout: of('LayoutDuration'),
      page: of('TaskDuration'),
      browser: 1000 * processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0),
      service: service.cpuMs(),
    };
  };
  const countLogged = async () =>
    ((await service.call('POST', '/v1/admin/eval/score', {})).body as { logged: number }).logged;
  const loggedBefore = await countLogged();
  const before = await processorMs();
  let keys = 0;
  for (let number = 0; number < Number(values.queries); number++) {
    await box.fill('');
    await page.keyboard.type(typed(number), { delay: keyEveryMs });
    keys += typed(number).length;
    await page.locator('.results[aria-busy="false"]').waitFor();
  }
  const after = await processorMs();
  const shown = await page.evaluate(() => (globalThis as unknown as { shown: Shown[] }).shown);
  const perKey = (name: keyof typeof after) => Math.round((100 * (after[name] - before[name])) / keys) / 100;
  const of = (some: readonly Shown[]) =>
    Object.fromEntries(
      (['service', 'console', 'sent', 'key'] as const).map((name) => [name, latency(some.map((each) => each[name]))]),
    );
  const stagesOf = (some: readonly Shown[]) =>
    Object.fromEntries(
      Object.keys(some[0].stages).map((stage) => {
        const { p50, p95 } = latency(some.map(({ stages }) => stages[stage] ?? 0));
        return [stage, { p50, p95 }];
      }),
    );
  const passing = shown.filter(({ isPassing }) => isPassing);
  const logged = (await countLogged()) - loggedBefore;
  const { index } = (await service.call('GET', '/readyz')).body as { index: { indexed_chunks: number } };
  const report = {
    bench: 'console-typing',
    seed,
    machine: describeMachine(),
    chunks: index.indexed_chunks,
    collections: values.collection,
    queries: Number(values.queries),
    keys,
    key_every_ms: keyEveryMs,
    while_typing_ms: passing.length > 0 ? { ...of(passing), stages: stagesOf(passing) } : null,
    all_ms: of(shown),
    processor_ms_a_key: {
      script: perKey('script'),
      style: perKey('style'),
      layout: perKey('layout'),
      page: perKey('page'),
      browser: perKey('browser'),
      service: perKey('service'),
    },
    logged_queries: logged,
  };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
} finally {
  await browser.close();
  await service.stop();
}

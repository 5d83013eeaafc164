/**
 * Whether memory grows with the pages that are read: loads and captures `LOADS` pages (1,000) one after another in one tab.
 * `npm run bench -- extension-memory`; prints JSON, with a line for every tenth of the loads. Heaps are read after a collection of garbage;
 * what is resident besides is the browser's.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { ChromiumWithExtension } from '../../test/extension-browser/chromium.ts';
import { Site } from '../../test/extension-browser/site.ts';
import { RunningService } from '../../test/process/service.ts';
import { CleanUps } from '../../test/scope.ts';

const loads = Number(process.env.LOADS ?? 1000);
const scope = new CleanUps();
const megabytes = (bytes: number): number => Math.round(bytes / 1e4) / 100;

/** Resident bytes of the process of the extension's worker in the browser of a profile; 0 where it is not running. */
function workerBytes(profile: string): number {
  let bytes = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!command.includes('--extension-process') || !command.includes(profile)) continue;
      bytes += 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      // the process ended meanwhile
    }
  }
  return bytes;
}

interface Heap {
  usedSize: number;
  totalSize: number;
  embedderHeapUsedSize: number;
  backingStorageSize: number;
}

/** What the extension's worker holds: of V8, of the browser for it, and of its buffers, bytes. Starts it where it was stopped. */
async function workerHeap(browser: ChromiumWithExtension): Promise<Heap> {
  await browser.ask('queueOverview', null);
  const session = await browser.context.browser()?.newBrowserCDPSession();
  if (session === undefined) throw new Error('the browser has no debugger');
  const { targetInfos } = await session.send('Target.getTargets');
  const targetId = targetInfos.find(({ type }) => type === 'service_worker')?.targetId ?? '';
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false });
  const call = async (id: number, method: string): Promise<Heap> => {
    const answer = new Promise<Heap>((resolve) => {
      session.on('Target.receivedMessageFromTarget', ({ message }) => {
        const received: { id: number; result: Heap } = JSON.parse(message);
        if (received.id === id) resolve(received.result);
      });
    });
    await session.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) });
    return answer;
  };
  await call(1, 'HeapProfiler.collectGarbage');
  const heap = await call(2, 'Runtime.getHeapUsage');
  await session.detach();
  return heap;
}

const site = await Site.open(scope);
const service = await RunningService.start(scope);
const browser = await ChromiumWithExtension.start(scope, site);
await browser.pair(service);
await browser.setOptions({ seconds: 600 });
const tab = await browser.context.newPage();
await tab.bringToFront();
const session = await browser.context.newCDPSession(tab);
await session.send('Performance.enable');
const samples: object[] = [];
let captured = 0;
const began = performance.now();
for (let load = 1; load <= loads; load++) {
  const url = `http://many.example.org/article/number-${load}`;
  await tab.goto(url);
  if ((await browser.captureIn(await browser.tabOf(url))) === 'queued') captured++;
  if (load % Math.ceil(loads / 10) > 0) continue;
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const heap = await workerHeap(browser);
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  samples.push({
    loads: load,
    page_heap_mb: megabytes(of('JSHeapUsedSize')),
    page_nodes: of('Nodes'),
    page_listeners: of('JSEventListeners'),
    page_documents: of('Documents'),
    worker_heap_mb: megabytes(heap.usedSize),
    worker_heap_committed_mb: megabytes(heap.totalSize),
    worker_browser_objects_mb: megabytes(heap.embedderHeapUsedSize),
    worker_buffers_mb: megabytes(heap.backingStorageSize),
    worker_resident_mb: megabytes(workerBytes(browser.profile)),
  });
}
const seconds = Math.round((performance.now() - began) / 1000);
await browser.ask('sendNow', null);
interface Listed {
  pages: unknown[];
  next_cursor: string | null;
}
let arrived = 0;
for (let cursor: string | null = ''; cursor !== null; ) {
  const { body }: { body: Listed } = await service.call<Listed>(
    'GET',
    `/v1/pages?limit=500${cursor && `&cursor=${cursor}`}`,
  );
  arrived += body.pages.length;
  cursor = body.next_cursor;
}
process.stdout.write(
  `${JSON.stringify({ machine: `${cpus().length} cores, ${cpus()[0].model}`, loads, captured, arrived, seconds, samples }, null, 2)}\n`,
);
await scope.run();

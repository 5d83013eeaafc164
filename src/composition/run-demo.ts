/** The demo: submits the sample pages over HTTP, waits for indexing, and shows a search. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceClient } from '../cli/context.ts';
import { wrapped } from '../cli/output.ts';
import type { IngestBatchResult } from '../domain/page.ts';

export interface DemoOptions {
  client: ServiceClient;
  token: string;
  say: (line: string) => void;
  columns: number;
}

interface FoundPage {
  title: string;
  canonical_url: string;
  chunks: { text: string }[];
}

const patienceMs = 60_000;

export async function runDemo({ client, token, say, columns }: DemoOptions): Promise<void> {
  const { baseUrl, call } = client;
  // A later start submits nothing again.
  const { pages } = await call<{ pages: unknown[] }>('GET', '/v1/pages?limit=1');
  if (pages.length === 0) {
    const { results } = await call<{ results: IngestBatchResult[] }>('POST', '/v1/pages/batch', { pages: samplePages });
    const page_ids = results.flatMap((result) => ('page_id' in result ? [result.page_id] : []));
    say(`added ${page_ids.length} sample pages; waiting until they are indexed …`);
    const deadline = Date.now() + patienceMs;
    while (page_ids.length > 0) {
      const states = await call<{ results: { status: string }[] }>('POST', '/v1/pages/status/batch', { page_ids });
      if (states.results.every(({ status }) => status === 'indexed')) break;
      if (states.results.some(({ status }) => status === 'dead')) throw new Error('a sample page could not be indexed');
      if (Date.now() > deadline) throw new Error('the sample pages were not indexed in time');
      await delay(100);
    }
  }

  const found = await call<{ results: FoundPage[]; timing_ms: { total: number } }>('POST', '/v1/search', {
    query: sampleQuery,
    k: 3,
    chunks_per_page: 1,
  });
  say(`\nsearch: ${sampleQuery}   (${found.timing_ms.total.toFixed(1)} ms)\n`);
  found.results.forEach(({ title, canonical_url, chunks }, index) => {
    say(`${index + 1}. ${title}\n   ${canonical_url}`);
    for (const { text } of chunks) for (const line of wrapped(`“${excerpt(text)}”`, columns, '   ')) say(line);
    say('');
  });
  if (found.results.length === 0) say('no results: the sample pages were deleted\n');
  say('Try one yourself, in another terminal:');
  say(`  curl -s ${baseUrl}/v1/search \\`);
  say(`    -H "Authorization: Bearer ${token}" \\`);
  say("    -H 'Content-Type: application/json' \\");
  say(`    -d '{"query": "when is high water highest"}'\n`);
  say('The service keeps running; Ctrl-C stops it.\n');
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 240 ? line : `${line.slice(0, 240).replace(/\s\S*$/, '')} …`;
}

export const samplePages = [
  {
    url: 'https://garden.example/notes/tomatoes?utm_source=newsletter',
    title: 'Why my tomatoes split, and what helped',
    body_html: `<article><h1>Why my tomatoes split, and what helped</h1>
<p>For three summers most of my tomatoes burst open a few days before they were ripe. The skin tears when the fruit swells faster than it can stretch, and that happens when a dry week is followed by a downpour or by a guilty gardener with a hose.</p>
<h2>Even watering beats more watering</h2>
<p>What helped was boring: a drip line on a timer, ten minutes at dawn, every day, and a hand's breadth of straw around the stems so that the soil dries slowly. Splitting fell from about half of the crop to a handful of fruits.</p>
<h2>Varieties</h2>
<p>Small, thick-skinned varieties forgive a lot. The large beefsteaks still crack around the shoulder after a storm, so I pick those at the first blush and let them ripen on the window sill.</p></article>`,
  },
  {
    url: 'https://workshop.example/bread/starter',
    title: 'A sourdough starter from flour and patience',
    body_html: `<article><h1>A sourdough starter from flour and patience</h1>
<p>Mix equal weights of rye flour and water in a jar, cover it loosely and leave it somewhere warm. Every day throw most of it away and feed what is left with the same amounts again.</p>
<h2>What the smell tells</h2>
<p>On the second day it may smell of old cheese; those are bacteria that the acid will soon kill. By the end of the week it smells of yoghurt and apples, doubles within six hours and is ready to raise a loaf.</p>
<p>A starter that has been forgotten in the fridge for a month is asleep, not dead: pour off the grey liquid, feed it twice, and it wakes up.</p></article>`,
  },
  {
    url: 'https://sea.example/tides',
    title: 'Reading a tide table without fear',
    body_html: `<article><h1>Reading a tide table without fear</h1>
<p>The sea along most coasts rises and falls twice a day because the earth turns under two bulges of water, one facing the moon and one on the far side. Each tide comes about fifty minutes later than the day before.</p>
<h2>Springs and neaps</h2>
<p>When sun and moon pull in line, at new and at full moon, high water is higher and low water lower: a spring tide. A week later they pull at right angles and the range is small.</p>
<p>The rule of twelfths is good enough for a walk to an island: in the six hours between low and high water the sea rises by one, two, three, three, two and one twelfths of the range. The middle two hours are when people are caught by it.</p></article>`,
  },
  {
    url: 'https://machines.example/queues',
    title: 'What a job queue has to promise',
    body_html: `<article><h1>What a job queue has to promise</h1>
<p>A queue that only remembers its work in memory loses it at the first power cut. So a job is written down before it counts as accepted, and the attempt is counted before the work begins, or a job that takes the machine down would be tried for ever.</p>
<h2>At least once</h2>
<p>No queue can promise that work runs exactly once, because the machine may stop between doing the work and writing down that it was done. What can be promised is that doing it twice leaves the same result as doing it once.</p>
<p>A job that has used up its attempts is not thrown away. It is set aside with its last error, so that a person can look at it, mend the cause and send it back.</p></article>`,
  },
];

const sampleQuery = 'why do tomatoes crack after heavy rain';

/** The demo: puts the sample pages in over HTTP as any client would, waits until they are indexed, and shows a search. */
import { setTimeout as delay } from 'node:timers/promises';
import { wrapped } from '../cli/text-width.ts';
import type { IngestBatchResult } from '../domain/page.ts';
import { samplePages, sampleQuery } from './sample-pages.ts';

export interface DemoOptions {
  baseUrl: string;
  token: string;
  say: (line: string) => void;
  /** Of the terminal. */
  columns: number;
}

interface FoundPage {
  title: string;
  canonical_url: string;
  chunks: { text: string }[];
}

/** How long indexing the sample pages may take before the demo gives up, ms. */
const patienceMs = 60_000;

export async function runDemo({ baseUrl, token, say, columns }: DemoOptions): Promise<void> {
  const call = async <Reply>(method: string, path: string, body?: unknown): Promise<Reply> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Reply;
  };

  // A later start finds them there, and takes in none that was forgotten.
  const { pages } = await call<{ pages: unknown[] }>('GET', '/v1/pages?limit=1');
  if (pages.length === 0) {
    const { results } = await call<{ results: IngestBatchResult[] }>('POST', '/v1/pages/batch', { pages: samplePages });
    const page_ids = results.flatMap((result) => ('page_id' in result ? [result.page_id] : []));
    say(`${page_ids.length} sample pages went in as HTML; waiting until they are indexed …`);
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
  if (found.results.length === 0) say('nothing is found: the sample pages were forgotten\n');
  say('Try one yourself, in another terminal:');
  say(`  curl -s ${baseUrl}/v1/search \\`);
  say(`    -H "Authorization: Bearer ${token}" \\`);
  say("    -H 'Content-Type: application/json' \\");
  say(`    -d '{"query": "when is high water highest"}'\n`);
  say('It goes on serving; Ctrl-C stops it.\n');
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 240 ? line : `${line.slice(0, 240).replace(/\s\S*$/, '')} …`;
}

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { clusterListResponse, clusterRunsResponse, labelOf } from '../../src/domain/cluster.ts';
import { realEncoder, until } from '../process/service.ts';
import { Site } from '../providers/small-web.ts';
import { isDomainError, WholeSystem } from './whole-system.ts';

const data = join(import.meta.dirname, '../../../shared/data/topics/squad-articles.jsonl');
const skip = existsSync(data) ? false : 'the labelled sets are not beside the checkout';

interface Article {
  url: string;
  title: string | null;
  label: string;
  text: string;
}

/** Paragraphs of articles about different things, as pages. */
function articles(labels: readonly string[], from: number, to: number): Article[] {
  const all = readFileSync(data, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { label: string; text: string });
  return labels.flatMap((label) =>
    all
      .filter((page) => page.label === label)
      .slice(from, to)
      .map(({ text }, i) => ({
        url: `https://${label.toLowerCase().replaceAll(/[^a-z]/g, '')}.example/${from + i}`,
        title: null,
        label,
        text,
      })),
  );
}

/** The clustering thread gives way to everything else on a busy machine. */
const topics = ['Super_Bowl_50', 'Black_Death', 'Steam_engine', 'Warsaw'];

async function ingest(system: WholeSystem, pages: readonly Article[]): Promise<Map<string, string>> {
  const page_ids = await system.submit(pages.map(({ url, title, text }) => ({ url, title, body_extracted: text })));
  await system.settled(page_ids);
  await system.filled();
  return new Map(pages.map(({ label }, i) => [page_ids[i], label]));
}

async function run(system: WholeSystem): Promise<void> {
  const before = (await system.ask('cluster.runs', { limit: 1 })).runs[0]?.id;
  assert.deepEqual(await system.ask('cluster.recompute', {}), { accepted: true, detail: null });
  await assert.rejects(system.ask('cluster.recompute', {}), (error) => isDomainError(error, 'conflict'));
  await until(async () => {
    const [latest] = (await system.ask('cluster.runs', { limit: 1 })).runs;
    if (latest?.id === before) return false;
    const [job] = (await system.ask('job.list', { kind: 'cluster', limit: 1 })).jobs;
    assert.notEqual(job?.status, 'dead', job?.last_error ?? '');
    return latest?.finished_at !== null;
  }, 'the run is over');
}

const list = (system: WholeSystem, include_tombstoned = false) => system.ask('cluster.list', { include_tombstoned });

/** Page → cluster now. */
async function membership(system: WholeSystem): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { id } of (await list(system)).clusters) {
    const { cluster, pages } = await system.topic(id);
    assert.equal(pages.length, cluster.size);
    const part = await system.topic(id, { offset: 1, limit: 2 });
    assert.deepEqual([part.pages, part.total], [pages.slice(1, 3), pages.length]);
    for (const { page_id } of pages) found.set(page_id, id);
  }
  return found;
}

test('topics are found, and kept when pages come', { skip }, async (t) => {
  const system = await WholeSystem.start(t, {
    ...realEncoder,
    SERVICE_CLUSTER__MIN_PAGES: '50',
  });
  assert.deepEqual(await list(system), { clusters: [], pages: 0, min_pages: 50 });
  const few = await ingest(system, articles(topics, 0, 1));
  const refused = await system.ask('cluster.recompute', {});
  assert.deepEqual(refused, { accepted: false, detail: '4 pages have vectors; clustering needs 50' });
  assert.deepEqual(await system.ask('cluster.runs', { limit: 10 }), { runs: [] });

  const labels = new Map([...few, ...(await ingest(system, articles(topics, 1, 13)))]);
  await run(system);
  const { clusters } = clusterListResponse.parse(await list(system));
  assert.ok(clusters.length >= 3 && clusters.length <= 6, `${clusters.length} clusters`);
  const first = await membership(system);
  const majorities = new Map<string, string>();
  let pure = 0;
  for (const { id, keywords, label, projection_x } of clusters) {
    const members = [...first].filter(([, cluster]) => cluster === id).map(([page]) => labels.get(page) ?? '');
    const [[majority, count]] = [...counted(members)]
      .map(([key, value]): [string, number] => [key, value.length])
      .sort(([, a], [, b]) => b - a);
    majorities.set(id, majority);
    pure += count;
    assert.ok(label?.toLowerCase().startsWith(keywords[0].toLowerCase()), `${label}: ${keywords}`);
    assert.equal(typeof projection_x, 'number');
  }
  assert.ok(pure >= 0.95 * first.size, `${pure} of ${first.size}`);
  const plague = clusters.find(({ id }) => majorities.get(id) === 'Black_Death');
  assert.ok(plague !== undefined);
  assert.ok(
    plague.keywords.some((word) => /plague/i.test(word)),
    plague.keywords.join(),
  );
  const [finished] = clusterRunsResponse.parse(await system.ask('cluster.runs', { limit: 10 })).runs;
  assert.deepEqual(
    [finished.trigger, finished.algorithm, finished.n_pages, finished.n_clusters, finished.params.resolution],
    ['manual', 'leiden', labels.size, clusters.length, 1],
  );
  const { points } = await system.ask('cluster.projection', { run_id: finished.id });
  assert.equal(points.length, labels.size);
  assert.equal(points.filter(({ cluster_id }) => cluster_id === null).length, finished.n_noise);

  // Between runs: new pages go to the nearest topic.
  const added = await ingest(system, articles(topics, 13, 16));
  await until(async () => {
    const known = await system.ask('cluster.projection', { run_id: finished.id });
    return known.points.length === labels.size + added.size;
  }, 'new pages have their places');
  const placed = await membership(system);
  const right = [...added].filter(([id, label]) => majorities.get(placed.get(id) ?? '') === label).length;
  assert.ok(right >= 0.85 * added.size, `${right} of ${added.size}`);

  // A run on the grown collection keeps ids; another process as well.
  await system.stop();
  await system.start();
  assert.deepEqual(await membership(system), placed);
  await run(system);
  const second = await membership(system);
  const kept = [...first].filter(([page, id]) => second.get(page) === id).length;
  assert.ok(kept >= 0.9 * first.size, `${kept} of ${first.size}`);
});

function counted(values: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const value of values) groups.set(value, [...(groups.get(value) ?? []), value]);
  return groups;
}

/** A language model that names every topic, is down, or refuses (400) what the pattern finds in a question. */
async function chatServer(t: TestContext): Promise<{
  base: string;
  asked: string[];
  setDown: (isDown: boolean) => void;
  refuse: (pattern: RegExp | null) => void;
}> {
  const asked: string[] = [];
  let down = false;
  let refused: RegExp | null = null;
  const setDown = (isDown: boolean) => {
    down = isDown;
  };
  const refuse = (pattern: RegExp | null) => {
    refused = pattern;
  };
  const site = await Site.open(t, {
    '*': async (request, response) => {
      const { messages } = (await json(request)) as { messages: { content: string }[] };
      if (down) return void response.writeHead(503).end();
      if (refused?.test(messages[1].content)) return void response.writeHead(400).end('{}');
      asked.push(messages[1].content);
      const content = `"Topic number ${asked.length}."\nBecause of the keywords.`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
    },
  });
  return { base: site.url('/v1'), asked, setDown, refuse };
}

test('while the language model is down keywords stay the labels; a topic that it refuses keeps its own, and a retry brings the others', {
  skip,
}, async (t) => {
  const { base, asked, setDown, refuse } = await chatServer(t);
  setDown(true);
  const system = await WholeSystem.start(t, {
    SERVICE_CLUSTER__MIN_PAGES: '20',
    SERVICE_LLM__BASE_URL: base,
    SERVICE_LLM__MODEL: 'm',
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
  });
  await ingest(system, articles(['Black_Death', 'Super_Bowl_50'], 0, 12));
  await run(system);
  const naming = async () => (await system.ask('job.list', { kind: 'label_clusters', limit: 1 })).jobs[0];
  const retried = async () => system.ask('job.retry', { job_id: (await naming()).job_id });
  await until(async () => (await naming())?.status === 'dead', 'labelling is given up');
  const { clusters: unnamed } = await list(system);
  assert.ok(unnamed.length > 0);
  for (const { label, keywords } of unnamed) assert.equal(label, labelOf(keywords));
  assert.equal(asked.length, 0);

  setDown(false);
  refuse(/plague/i);
  await retried();
  await until(async () => (await naming()).status === 'dead', 'the job says that one was refused');
  assert.match((await naming()).last_error ?? '', /400/);
  const isNamed = (label: string | null) => /^Topic number \d$/.test(label ?? '');
  const { clusters } = await list(system);
  const plagues = clusters.filter(({ keywords }) => keywords.some((word) => /plague/i.test(word)));
  assert.ok(plagues.length > 0 && plagues.length < clusters.length);
  for (const { label, keywords } of plagues) assert.equal(label, labelOf(keywords));
  for (const cluster of clusters) assert.equal(isNamed(cluster.label), !plagues.includes(cluster));

  refuse(null);
  await retried();
  await until(async () => (await list(system)).clusters.every(({ label }) => isNamed(label)), 'all are labelled');
  const { clusters: named } = await list(system);
  assert.equal(asked.length, named.length, 'each was asked for once');
  assert.ok(asked.every((text) => text.startsWith('Keywords: ')));
  await run(system);
  assert.deepEqual((await list(system)).clusters, named);
  assert.equal(asked.length, named.length);
});

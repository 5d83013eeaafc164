/**
 * Measures topics and prints JSON, in the thread that finds them in the service.
 * `quality`: NMI and ARI of the clusters with the labels of ../shared/data/topics, at the usual settings; noise counts as one more cluster.
 * The constants were chosen on the halves of `chosen_on`; the others only report. TOPICS_HELD_OUT names more files of the same form
 * ({title, text, label}; by commas), reported apart.
 * `stability`: whether the same pages give the same topics, and how many pages keep their topic's id when a tenth is added.
 * `speed`: time and peak memory of a run, at PAGES pages (100,000) made of real vectors and chance.
 * Vectors are made by the built-in encoder and kept in TOPICS_CACHE (a folder of the system's for temporary files).
 * Usage: npm run bench -- topics [quality | stability | speed [PAGES]]
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { embeddingText } from '../src/compute/embedding/embedding-text.ts';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { labelOf } from '../src/domain/cluster.ts';
import { builtInModel } from '../src/domain/model.ts';
import { openThreadPool } from '../src/threads/thread-pool.ts';
import { openBenchEncoder } from './bench-encoder.ts';
import { describeMachine } from './machine.ts';
import { partitionAgreement } from './quality/partition-agreement.ts';

interface LabelledSet {
  name: string;
  pages: { title: string | null; text: string; label: string }[];
  /** Page by page. */
  rows: Float32Array;
}

const { dim } = builtInModel;
const batch = 500;
const shared = join(import.meta.dirname, '../../shared/data/topics');
const cache = process.env.TOPICS_CACHE ?? join(tmpdir(), 'readback-topics');
const heldOut = (process.env.TOPICS_HELD_OUT ?? '').split(',').filter((file) => file !== '');
const pool = openThreadPool<typeof import('../src/threads/cluster-thread.ts')>({
  entry: new URL('../src/threads/cluster-thread.ts', import.meta.url),
  name: 'clusters',
  threads: 1,
  maxQueue: 64,
});

async function read(file: string): Promise<LabelledSet> {
  const written = readFileSync(file, 'utf8');
  const pages: LabelledSet['pages'] = written
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ title, text, label }) => ({ title: title || null, text, label }));
  const kept = join(
    cache,
    `${createHash('sha256').update(builtInModel.model_name).update(written).digest('hex').slice(0, 16)}.f32`,
  );
  if (!existsSync(kept)) {
    const encoder = openBenchEncoder();
    const { rows } = await encoder.encode(
      pages.map(({ title, text }) => embeddingText(title, null, text)),
      'passage',
    );
    await encoder.close();
    mkdirSync(cache, { recursive: true });
    writeFileSync(kept, new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength));
  }
  return { name: basename(file, '.jsonl'), pages, rows: new Float32Array(new Uint8Array(readFileSync(kept)).buffer) };
}

function partOf(
  name: string,
  sets: readonly LabelledSet[],
  isWanted: (label: string, index: number) => boolean,
): LabelledSet {
  const kept = sets.flatMap(({ pages, rows }) =>
    pages.flatMap((page, i) => (isWanted(page.label, i) ? [{ page, row: rows.subarray(i * dim, (i + 1) * dim) }] : [])),
  );
  const rows = new Float32Array(kept.length * dim);
  for (const [i, { row }] of kept.entries()) rows.set(row, i * dim);
  return { name, pages: kept.map(({ page }) => page), rows };
}

async function clusterAll({ pages, rows }: LabelledSet, earlier?: Uint32Array) {
  const run = 'bench';
  const began = performance.now();
  await pool.run('begin', { run, dim });
  for (let at = 0; at < pages.length; at += batch) {
    const part = rows.slice(at * dim, (at + batch) * dim);
    const counts = new Array(part.length / dim).fill(1);
    await pool.run('addPages', { run, pages: { counts, rows: part, languages: counts.map(() => 'en') } });
  }
  while (await pool.run('comparePages', { run }));
  const clustered = await pool.run('cluster', { run, resolution: 1, ...(earlier && { earlier }) });
  const grouped = performance.now();
  await pool.run('beginKeywords', { run });
  // As the service does: at most 200 pages of each topic.
  const read = new Map<number, number>();
  const texts = pages.flatMap(({ title, text }, i) => {
    const cluster = clustered.clusters[i];
    read.set(cluster, (read.get(cluster) ?? 0) + 1);
    return (read.get(cluster) ?? 0) > 200 ? [] : [{ cluster, title, text, language: 'en' }];
  });
  for (let at = 0; at < texts.length; at += batch)
    await pool.run('addTexts', { run, texts: texts.slice(at, at + batch) });
  const keywords = await pool.run('keywords', { run });
  const ended = performance.now();
  const ms = { clusters: grouped - began, keywords: ended - grouped, all: ended - began };
  return { ...clustered, keywords, ms: rounded(ms, 0) };
}

async function quality(set: LabelledSet) {
  const { clusters, count, keywords } = await clusterAll(set);
  const names = [...new Set(set.pages.map(({ label }) => label))];
  const labels = set.pages.map(({ label }) => names.indexOf(label));
  const given: (string | null)[] = [];
  for (const [, words] of [...keywords].sort(([a], [b]) => a - b))
    given.push(labelOf(words, new Set(given.map((name) => name?.toLowerCase() ?? ''))));
  return {
    set: set.name,
    pages: set.pages.length,
    labels: names.length,
    clusters: count,
    noise: clusters.filter((cluster) => cluster < 0).length,
    ...rounded({ ...partitionAgreement(clusters, labels) }, 3),
    names: given,
  };
}

async function stability(set: LabelledSet) {
  const isEarlier = (page: number) => page % 10 !== 9;
  const part = partOf('nine tenths', [set], (_, page) => isEarlier(page));
  const first = await clusterAll(part);
  const again = await clusterAll(part);
  const earlier = new Uint32Array(set.pages.length);
  let row = 0;
  for (const page of earlier.keys()) if (isEarlier(page)) earlier[page] = first.clusters[row++] + 1;
  const grown = await clusterAll(set, earlier);
  const had = [...earlier.keys()].filter((page) => earlier[page] !== 0);
  const kept = had.filter((page) => grown.continued[grown.clusters[page]] === earlier[page]);
  return {
    set: set.name,
    same_twice: first.clusters.every((cluster, page) => cluster === again.clusters[page]),
    clusters: [first.count, grown.count],
    ids_kept: grown.continued.filter((id) => id !== null).length,
    pages_that_keep_their_id: Number((kept.length / had.length).toFixed(3)),
  };
}

/** A run of pages made of real ones: the mean of two of a label and a little chance. */
async function speed({ pages, rows }: LabelledSet, count: number) {
  const random = seededRandom(5);
  const byLabel = new Map<string, number[]>();
  for (const [i, { label }] of pages.entries()) byLabel.set(label, [...(byLabel.get(label) ?? []), i]);
  const made = new Float32Array(count * dim);
  const of = Array.from({ length: count }, (_, row) => {
    const a = Math.floor(random() * pages.length);
    const others = byLabel.get(pages[a].label) ?? [a];
    const b = others[Math.floor(random() * others.length)];
    const share = 0.5 + random() / 2;
    for (let i = 0; i < dim; i++)
      made[row * dim + i] = share * rows[a * dim + i] + (1 - share) * rows[b * dim + i] + (random() - 0.5) * 0.02;
    return { ...pages[a], text: `${pages[a].text} ${pages[b].text}` };
  });
  let peak = 0;
  const before = process.memoryUsage().rss;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 200);
  const { user, system } = process.cpuUsage();
  const { count: clusters, points, probabilities, ms } = await clusterAll({ name: 'made', pages: of, rows: made });
  clearInterval(timer);
  const cpu = process.cpuUsage();
  return {
    ...{ pages: count, clusters, ms, cpu_s: Math.round((cpu.user + cpu.system - user - system) / 1e6) },
    is_finite: points.every(Number.isFinite) && probabilities.every(Number.isFinite),
    // The bench itself has the pages in memory before the run; the service has them in its store.
    peak_mb: { process: Math.round(peak / 2 ** 20), more_than_before: Math.round((peak - before) / 2 ** 20) },
  };
}

function rounded<Key extends string>(numbers: Record<Key, number>, digits: number): Record<Key, number> {
  const entries = Object.entries<number>(numbers).map(([key, value]) => [key, Number(value.toFixed(digits))]);
  return Object.fromEntries(entries);
}

const [wanted = 'all', argument] = process.argv.slice(2);
const [news, articles] = [await read(join(shared, 'ag-news.jsonl')), await read(join(shared, 'squad-articles.jsonl'))];
const titles = [...new Set(articles.pages.map(({ label }) => label))].sort();
/** Of articles every other title, of news every other page. */
const isEven = (label: string, i: number) => (titles.includes(label) ? titles.indexOf(label) : i) % 2 === 0;
const report: Record<string, unknown> = { bench: 'topics', machine: describeMachine() };
const measured = async (sets: readonly LabelledSet[]) => {
  const found = [];
  for (const set of sets) found.push(await quality(set));
  const mean = found.reduce((sum, { nmi }) => sum + nmi / found.length, 0);
  return { mean_nmi: Number(mean.toFixed(3)), sets: found };
};
if (wanted === 'all' || wanted === 'quality') {
  const half = (name: string, sets: LabelledSet[], isOdd: boolean) =>
    partOf(`${name}, ${isOdd ? 'odd' : 'even'}`, sets, (label, i) => isEven(label, i) !== isOdd);
  const halves = (isOdd: boolean) => [
    half('ag-news', [news], isOdd),
    half('squad-articles', [articles], isOdd),
    half('both', [news, articles], isOdd),
  ];
  report.chosen_on = await measured(halves(false));
  report.reported = await measured([...halves(true), news, articles]);
  const others = [];
  for (const file of heldOut) others.push(await read(file));
  if (others.length > 0) report.held_out = await measured(others);
}
if (wanted === 'all' || wanted === 'stability') report.stability = [await stability(news), await stability(articles)];
if (wanted === 'all' || wanted === 'speed')
  report.speed = await speed(
    partOf('both', [news, articles], () => true),
    Number(argument ?? 100_000),
  );
await pool.close();
console.log(JSON.stringify(report, null, 1));

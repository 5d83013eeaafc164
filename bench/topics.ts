/**
 * Measures topics and prints JSON. On the labelled sets of ../shared/data/topics (or TOPICS_DATA): NMI and ARI of the default
 * clusters against the labels, beside k-means with the true number of labels on the same vectors, and the keywords found. Noise
 * counts as one more cluster. Parameters were chosen on the halves called `chosen on`; the others only report.
 * Then the time of a run at 1,000, 10,000 and 50,000 pages, in the thread that does it in the service; and with `service`, which
 * `all` leaves out, a run in a real service, with health checks and searches beside it.
 * `stability`, which `all` leaves out, too: whether the same pages give the same topics, how many pages keep their topic's id when a
 * tenth is added, and where 18 pages of one label are found among all pages of the others.
 * Usage: npm run bench:topics [-- quality | stability | speed [PAGES] | service [PAGES] | map FILE.svg]
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { openingOf, sampledPages } from '../src/actors/clusters/hand-over-pages.ts';
import { partitionAgreement } from '../src/compute/agreement/partition-agreement.ts';
import { normalizeRow } from '../src/compute/clusters/page-vectors.ts';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { labelOf } from '../src/domain/cluster.ts';
import { openThreadPool } from '../src/threads/thread-pool.ts';
import { describeMachine } from './machine.ts';
import { drawMap } from './topics/draw-map.ts';
import { kMeans } from './topics/k-means.ts';
import { dim, type LabelledPage, type LabelledSet, labelsOf, partOf, readSets } from './topics/labelled-pages.ts';
import { measureService } from './topics/measure-service.ts';

const kMeansSeeds = [1, 2, 3];
const sizes = [1000, 10_000, 50_000];
const resolution = 1;
const smallTopicPages = 18;
const batch = 500;
const pool = openThreadPool<typeof import('../src/threads/cluster-thread.ts')>({
  entry: new URL('../src/threads/cluster-thread.ts', import.meta.url),
  name: 'clusters',
  threads: 1,
  maxQueue: 64,
});

const beginning = ({ title, text }: LabelledPage) => openingOf(title, text);

async function clusterAll({ pages, rows }: LabelledSet, earlier?: { earlier: Uint32Array; earlierScale: number }) {
  const run = 'bench';
  const began = performance.now();
  const step = Math.max(1, Math.floor(pages.length / sampledPages));
  const sampled = Array.from({ length: Math.ceil(pages.length / step) }, (_, i) => i * step);
  const sample = new Float32Array(sampled.length * dim);
  sampled.forEach((page, row) => {
    sample.set(rows.subarray(page * dim, (page + 1) * dim), row * dim);
  });
  await pool.run('learn', {
    run,
    dim,
    sample: [{ counts: sampled.map(() => 1), rows: sample, openings: sampled.map((page) => beginning(pages[page])) }],
  });
  for (let at = 0; at < pages.length; at += batch) {
    const part = rows.slice(at * dim, (at + batch) * dim);
    const openings = pages.slice(at, at + batch).map(beginning);
    await pool.run('addPages', { run, pages: { counts: new Array(part.length / dim).fill(1), rows: part, openings } });
  }
  const taken = performance.now();
  const clustered = await pool.run('cluster', { run, resolution, ...earlier });
  const grouped = performance.now();
  await pool.run('beginKeywords', { run });
  for (let at = 0; at < pages.length; at += batch) {
    const texts = pages.slice(at, at + batch).map(({ title, text }, i) => ({
      cluster: clustered.clusters[at + i],
      title,
      text,
    }));
    await pool.run('addTexts', { run, texts });
  }
  const keywords = await pool.run('keywords', { run });
  const done = performance.now();
  const ms = { vectors: taken - began, ...clustered.timing_ms, keywords: done - grouped, all: done - began };
  return { ...clustered, keywords, ms: rounded(ms, 0) };
}

async function quality(set: LabelledSet) {
  const labels = labelsOf(set);
  const k = new Set(labels).size;
  const { clusters, count, keywords, scale } = await clusterAll(set);
  const reference = kMeansSeeds.map((seed) => partitionAgreement(kMeans(set.rows, dim, k, seed), labels));
  process.stderr.write(`${set.name}: ${count} clusters\n`);
  const mean = (key: 'nmi' | 'ari') => reference.reduce((sum, each) => sum + each[key] / reference.length, 0);
  return {
    set: set.name,
    pages: set.pages.length,
    labels: k,
    clusters: count,
    scale,
    noise: clusters.filter((cluster) => cluster < 0).length,
    ...rounded({ ...partitionAgreement(clusters, labels) }, 3),
    k_means: rounded({ nmi: mean('nmi'), ari: mean('ari') }, 3),
    keywords: [...keywords].sort(([a], [b]) => a - b).map(([, words]) => words.join(', ')),
  };
}

async function stability(set: LabelledSet) {
  const isEarlier = (page: number) => page % 10 !== 9;
  const part = partOf(set, 'nine tenths', (_, page) => isEarlier(page));
  const first = await clusterAll(part);
  const again = await clusterAll(part);
  const earlier = new Uint32Array(set.pages.length);
  let row = 0;
  for (const page of earlier.keys()) if (isEarlier(page)) earlier[page] = first.clusters[row++] + 1;
  const grown = await clusterAll(set, { earlier, earlierScale: first.scale });
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

/** 18 pages of a label among all of the others: the cluster that has most of them. */
async function smallTopic(set: LabelledSet, label: string) {
  let taken = 0;
  const some = partOf(set, label, (page) => page.label !== label || taken++ < smallTopicPages);
  const { clusters, keywords } = await clusterAll(some);
  const sizes = new Map<number, { size: number; of_label: number }>();
  for (const [page, cluster] of clusters.entries()) {
    const { size, of_label } = sizes.get(cluster) ?? { size: 0, of_label: 0 };
    sizes.set(cluster, { size: size + 1, of_label: of_label + (some.pages[page].label === label ? 1 : 0) });
  }
  const [[cluster, found]] = [...sizes].sort(([, a], [, b]) => b.of_label - a.of_label);
  return { label, ...found, keywords: (keywords.get(cluster) ?? []).join(', ') };
}

/** Pages made of real ones: the mean of two of a topic and a little chance, so that sizes beyond the sets stay like them. */
function grown(sets: LabelledSet[], count: number): LabelledSet {
  const random = seededRandom(5);
  const rows = new Float32Array(count * dim);
  const pages = Array.from({ length: count }, (_, row) => {
    const { pages: known, rows: vectors } = sets[Math.floor(random() * sets.length)];
    const a = Math.floor(random() * known.length);
    let b = Math.floor(random() * known.length);
    while (known[b].label !== known[a].label) b = (b + 1) % known.length;
    const share = 0.5 + random() / 2;
    for (let i = 0; i < dim; i++) {
      const noise = (random() - 0.5) * 0.04;
      rows[row * dim + i] = share * vectors[a * dim + i] + (1 - share) * vectors[b * dim + i] + noise;
    }
    normalizeRow(rows, row * dim, dim);
    return { ...known[a], text: `${known[a].text} ${known[b].text}` };
  });
  return { name: `grown-${count}`, pages, rows };
}

async function speed(sets: LabelledSet[], count: number) {
  const set = grown(sets, count);
  const before = process.cpuUsage();
  const { count: clusters, ms, scale } = await clusterAll(set);
  const { user, system } = process.cpuUsage(before);
  const rss_mb = Math.round(process.memoryUsage().rss / 2 ** 20);
  return {
    pages: count,
    clusters,
    scale,
    load: loadavg()[0],
    ms,
    cpu_s: Math.round((user + system) / 1e6),
    process_rss_mb: rss_mb,
  };
}

async function drawTo(file: string, set: LabelledSet) {
  const { clusters, points, keywords } = await clusterAll(set);
  const labels = new Map([...keywords].map(([cluster, words]) => [cluster, labelOf(words) ?? '']));
  const dots = Array.from(clusters, (cluster, i) => ({ cluster, x: points[2 * i], y: points[2 * i + 1] }));
  writeFileSync(file, drawMap(dots, labels));
}

function joined(a: Float32Array, b: Float32Array): Float32Array {
  const rows = new Float32Array(a.length + b.length);
  rows.set(a);
  rows.set(b, a.length);
  return rows;
}

function rounded<Key extends string>(numbers: Record<Key, number>, digits: number): Record<Key, number> {
  const entries = Object.entries<number>(numbers).map(([key, value]) => [key, Number(value.toFixed(digits))]);
  return Object.fromEntries(entries);
}

const { agNews, squad } = await readSets();
const [wanted = 'all', argument] = process.argv.slice(2);
const titles = [...new Set(squad.pages.map(({ label }) => label))].sort();
const both: LabelledSet = {
  name: 'both',
  pages: [...agNews.pages, ...squad.pages],
  rows: joined(agNews.rows, squad.rows),
};
const isEven = (label: string) => titles.indexOf(label) % 2 === 0;
const report: Record<string, unknown> = {
  bench: 'topics',
  machine: describeMachine(),
};
if (wanted === 'map') await drawTo(argument ?? 'topics.svg', squad);
if (wanted === 'service')
  report.service = await measureService([...agNews.pages, ...squad.pages], Number(argument ?? 10_000));
if (wanted === 'stability') {
  report.stability = [await stability(agNews), await stability(squad)];
  const small = [];
  for (const label of titles.filter((_, at) => at % 6 === 1)) small.push(await smallTopic(squad, label));
  report.small_topics = small;
}
if (wanted === 'all' || wanted === 'quality') {
  report.chosen_on = [
    await quality(partOf(agNews, 'ag-news, even', (_, i) => i % 2 === 0)),
    await quality(partOf(squad, 'squad-articles, even titles', ({ label }) => isEven(label))),
    await quality(partOf(both, 'both, even', ({ label }, i) => (titles.includes(label) ? isEven(label) : i % 2 === 0))),
  ];
  report.reported = [
    await quality(partOf(agNews, 'ag-news, odd', (_, i) => i % 2 === 1)),
    await quality(partOf(squad, 'squad-articles, odd titles', ({ label }) => !isEven(label))),
    await quality(partOf(both, 'both, odd', ({ label }, i) => (titles.includes(label) ? !isEven(label) : i % 2 === 1))),
    await quality(agNews),
    await quality(squad),
  ];
}
if (wanted === 'all' || wanted === 'speed') {
  const runs = [];
  for (const count of argument === undefined ? sizes : [Number(argument)])
    runs.push(await speed([agNews, squad], count));
  report.speed = runs;
}
await pool.close();
console.log(JSON.stringify(report, null, 1));

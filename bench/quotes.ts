/**
 * Verbatim quotes and unfinished words over the collections of ../shared/data/ir, over HTTP, as JSON. Quotes: stretches of words of a
 * document, drawn with a seed, in quotation marks; how many find a document that has them first, and what that takes beside the same words
 * without the marks. Unfinished: a collection's queries with their last word cut to half of its letters; nDCG@10 as a share of that of the whole
 * query, with and without `prefix`.
 * Usage: npm run bench -- quotes [collection …]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { foldPhrase } from '../src/compute/ranking/exact-query.ts';
import { ndcg } from '../src/compute/ranking/score-run.ts';
import { allIndexed, latency, pushPages } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { mean } from './quality/measures.ts';
import { type RunningService, runService } from './running-service.ts';
import { randomStream } from './workload.ts';

const SEED = 42;
const QUOTES = 100;
const MAX_QUERIES = 150;
const lengths = [2, 3, 5];
const root = join(import.meta.dirname, '../../shared/data/ir');
const { positionals } = parseArgs({ allowPositionals: true });
const names = positionals.length > 0 ? positionals : ['time', 'cranfield', 'clapnq-dev', 'xquad-de', 'xquad-hi'];

interface Found {
  results: { canonical_url: string; exact_match: boolean }[];
}

const linesOf = (name: string, file: string) =>
  readFileSync(join(root, name, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

async function measure(service: RunningService, name: string) {
  const documents = linesOf(name, 'corpus.jsonl')
    .map((line): { _id: string; title?: string; text: string } => JSON.parse(line))
    .filter(({ text }) => text.trim() !== '');
  const urlOf = (id: string) => `https://${name}.example/${encodeURIComponent(id)}`;
  await pushPages(
    service,
    documents.map(({ _id, title, text }) => ({ url: urlOf(_id), ...(title ? { title } : {}), body_extracted: text })),
  );
  while (!(await allIndexed(service))) await new Promise((resolve) => setTimeout(resolve, 200));
  const filters = { domain: `${name}.example` };
  const search = async (query: string, fields = {}) => {
    const { status, ms, body } = await service.call('POST', '/v1/search', { query, filters, suggest: 0, ...fields });
    if (status !== 200) throw new Error(`a search was answered ${status}`);
    return { ms, results: (body as Found).results };
  };

  const folded = new Map(
    documents.map(({ _id, title = '', text }) => [urlOf(_id), `${foldPhrase(title)}\n${foldPhrase(text)}`]),
  );
  const random = randomStream(SEED, names.indexOf(name), 0);
  const quotes = [];
  for (const words of lengths) {
    let first = 0;
    const took: Record<'quoted' | 'plain', number[]> = { quoted: [], plain: [] };
    for (let no = 0; no < QUOTES; no++) {
      const { text } = documents[Math.floor(random() * documents.length)];
      const all = [...text.matchAll(/[^\s"“”«»„]+/g)];
      const at = Math.floor(random() * Math.max(1, all.length - words));
      const last = all[Math.min(all.length, at + words) - 1];
      const quote = text.slice(all[at].index, last.index + last[0].length);
      if (/["“”«»„]/.test(quote)) continue;
      const quoted = await search(`"${quote}"`);
      took.quoted.push(quoted.ms);
      took.plain.push((await search(quote)).ms);
      if (folded.get(quoted.results[0]?.canonical_url)?.includes(foldPhrase(quote))) first++;
    }
    quotes.push({
      words,
      quotes: took.quoted.length,
      first,
      ms: { quoted: latency(took.quoted), plain: latency(took.plain) },
    });
  }

  const grades = new Map<string, Map<string, number>>();
  for (const line of linesOf(name, 'qrels.tsv').slice(1)) {
    const [query, document, grade] = line.split('\t');
    grades.set(query, (grades.get(query) ?? new Map()).set(urlOf(document), Number(grade)));
  }
  const values: Record<'whole' | 'whole_as_prefix' | 'cut' | 'cut_as_prefix', number[]> = {
    ...{ whole: [], whole_as_prefix: [], cut: [], cut_as_prefix: [] },
  };
  const took: Record<'cut' | 'cut_as_prefix', number[]> = { cut: [], cut_as_prefix: [] };
  const queries = linesOf(name, 'queries.jsonl').map((line): { _id: string; text: string } => JSON.parse(line));
  for (const { _id, text } of queries.filter(({ _id }) => grades.has(_id)).slice(0, MAX_QUERIES)) {
    const whole = text.replace(/[^\p{L}\p{M}\p{N}]+$/u, '');
    const word = /[\p{L}\p{M}]+$/u.exec(whole)?.[0] ?? '';
    if (word.length < 6) continue;
    const cut = whole.slice(0, whole.length - Math.ceil(word.length / 2));
    const judged = grades.get(_id) ?? new Map();
    const value = ({ results }: Found) =>
      ndcg(
        results.map(({ canonical_url }) => canonical_url),
        judged,
        10,
      );
    const fields = { chunks_per_page: 1 };
    values.whole.push(value(await search(whole, fields)));
    values.whole_as_prefix.push(value(await search(whole, { ...fields, prefix: true })));
    const asIs = await search(cut, fields);
    const completed = await search(cut, { ...fields, prefix: true });
    values.cut.push(value(asIs));
    values.cut_as_prefix.push(value(completed));
    took.cut.push(asIs.ms);
    took.cut_as_prefix.push(completed.ms);
  }
  const ndcg_10 = Object.fromEntries(
    Object.entries(values).map(([key, each]) => [key, Math.round(mean(each) * 1000) / 1000]),
  );
  const ms = { cut: latency(took.cut), cut_as_prefix: latency(took.cut_as_prefix) };
  return { name, documents: documents.length, quotes, unfinished: { queries: values.whole.length, ndcg_10, ms } };
}

const service = await runService({ SERVICE_ENTITY__ENABLED: 'false' });
const collections = [];
try {
  for (const name of names) collections.push(await measure(service, name));
} finally {
  await service.stop();
}
console.log(JSON.stringify({ bench: 'quotes', machine: describeMachine(), seed: SEED, collections }, null, 1));

/**
 * How far two embedding models agree on a real corpus, as JSON: the pages of a collection of ../shared/data/ir go into a service whose
 * active model is `local-wink-1024`, `local-wink-100` is registered and filled, and the collection's queries go to `/v1/compare`.
 * Means over queries of rank-biased overlap (p 0.9), Kendall's tau-b and Jaccard of the first k pages.
 *
 *   npm run bench:models [-- --k 10 --queries 100 cranfield medline time]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CompareResponse } from '../src/domain/compare.ts';
import { runService } from './running-service.ts';

interface Document {
  _id: string;
  title?: string;
  text: string;
}

const root = join(import.meta.dirname, '../../shared/data/ir');
const batchSize = 50;
const models = ['local-wink-1024', 'local-wink-100'];

const { values, positionals } = parseArgs({
  options: { k: { type: 'string', default: '10' }, queries: { type: 'string', default: '100' } },
  allowPositionals: true,
});
const names = positionals.length === 0 ? ['cranfield', 'medline', 'time'] : positionals;
const linesOf = (name: string, file: string): Document[] =>
  readFileSync(join(root, name, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const mean = (numbers: number[]) => Math.round((numbers.reduce((a, b) => a + b, 0) / numbers.length) * 1000) / 1000;

async function agreementOn(name: string) {
  const service = await runService();
  const call = async <Body>(method: string, path: string, body?: unknown) => {
    const answer = await service.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}`);
    return answer.body as Body;
  };
  const jobsLeft = async () => {
    for (const status of ['pending', 'running', 'failed']) {
      const { jobs } = await call<{ jobs: unknown[] }>('GET', `/v1/jobs?limit=1&status=${status}`);
      if (jobs.length > 0) return true;
    }
    return false;
  };
  try {
    const documents = linesOf(name, 'corpus.jsonl').filter(({ text }) => text.trim() !== '');
    for (let at = 0; at < documents.length; at += batchSize) {
      const pages = documents.slice(at, at + batchSize).map(({ _id, title, text }) => ({
        url: `https://${name}.example/${encodeURIComponent(_id)}`,
        ...(title ? { title } : {}),
        body_extracted: text,
      }));
      await call('POST', '/v1/pages/batch', { pages });
    }
    await call('POST', '/v1/models', { provider: 'local', model_name: 'wink', dim: 100, max_input_tokens: 32_000 });
    await call('POST', `/v1/models/${models[1]}/backfill`, { confirm: true });
    while (await jobsLeft()) await pause(200);

    const queries = linesOf(name, 'queries.jsonl').slice(0, Number(values.queries));
    const byRerank = [];
    for (const rerank of [false, true]) {
      const agreements = [];
      for (const { text } of queries) {
        const query = text.slice(0, 4000);
        const asked = { query, models, k: Number(values.k), rerank };
        const { agreement } = await call<CompareResponse>('POST', '/v1/compare', asked);
        agreements.push(agreement[0]);
      }
      byRerank.push({
        rerank,
        rbo: mean(agreements.map(({ rbo }) => rbo)),
        kendall_tau: mean(agreements.flatMap(({ kendall_tau }) => (kendall_tau === null ? [] : [kendall_tau]))),
        jaccard: mean(agreements.map(({ jaccard_at_k }) => jaccard_at_k)),
      });
    }
    return { collection: name, pages: documents.length, queries: queries.length, agreement: byRerank };
  } finally {
    await service.stop();
  }
}

const collections = [];
for (const name of names) collections.push(await agreementOn(name));
console.log(JSON.stringify({ bench: 'compare-models', models, k: Number(values.k), collections }, null, 2));

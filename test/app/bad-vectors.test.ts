/**
 * Check C22 on the running system: vectors that no index may be given, in each wire format, for pages and in a backfill. What is
 * refused is the same for every format: test/providers/adapters.test.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFolder } from '../../src/composition/check-folder.ts';
import { jobListQuery } from '../../src/domain/job.ts';
import { until } from '../process/service.ts';
import { startFakeProvider } from '../providers/fake-provider-server.ts';
import { library, WholeSystem } from './whole-system.ts';

const dim = 32;
const soundRow = Array.from({ length: dim }, (_, i) => (i + 1) / dim);
const packed = (row: number[]) => Buffer.from(Float32Array.from(row).buffer).toString('base64');

/** Rows in place of one row, by what is wrong with them. */
const faults: readonly [name: string, rows: unknown[], isPacked?: true][] = [
  ['NaN', [packed(soundRow.with(3, Number.NaN))], true],
  ['a zero vector', [soundRow.map(() => 0)]],
  ['a row too few', []],
];

interface Wire {
  provider: string;
  path: string;
  answer: (rows: unknown[]) => unknown;
}
const byIndex = (rows: unknown[]) => ({ data: rows.map((embedding, index) => ({ index, embedding })) });
const wires: readonly Wire[] = [
  { provider: 'openai', path: '/v1', answer: byIndex },
  { provider: 'voyage', path: '/v1', answer: byIndex },
  { provider: 'cohere', path: '/v2', answer: (float) => ({ embeddings: { float } }) },
];

for (const { provider, path, answer } of wires) {
  test(`bad vectors of ${provider} are refused, nothing of them is stored, and what is there is found as before`, async (t) => {
    const server = await startFakeProvider(t, { dim });
    const system = await WholeSystem.start(t, {
      SERVICE_RERANKER__KIND: 'none',
      SERVICE_EMBEDDER__PROVIDER: provider,
      SERVICE_EMBEDDER__MODEL: 'words-32',
      SERVICE_EMBEDDER__DIM: `${dim}`,
      [`SERVICE_PROVIDERS__${provider.toUpperCase()}__BASE_URL`]: server.url + path,
      SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
      SERVICE_JOBS__MAX_ATTEMPTS: '2',
      SERVICE_JOBS__BACKOFF_BASE_S: '0.01',
    });
    await system.read(library);
    const found = async () => {
      const { results, timing_ms } = await system.search('birds that hunt fish');
      assert.equal(timing_ms.degraded_dense, undefined);
      return results.map(({ page_id, score }) => [page_id, Math.round(score * 1e6)]);
    };
    const before = await found();
    const request = { provider, model_name: 'other-32', dim, max_input_tokens: 512 };
    const { id } = await system.ask('model.register', request);
    const backfill = () => system.ask('model.backfill', { model_id: id });

    for (const [name, rows, isPacked] of faults) {
      if (isPacked && provider === 'cohere') continue; // its lists cannot say so: JSON has no such number
      await t.test(name, async () => {
        server.faultOf = ({ body }) => {
          const texts = (body.input ?? body.texts) as string[];
          if (texts.some((text) => text.includes('Harmless'))) return undefined;
          return { kind: 'tamper', change: () => answer([...texts.slice(1).map(() => soundRow), ...rows]) };
        };
        const slug = name.replaceAll(' ', '-');
        const pages = {
          [slug]: { title: name, text: 'A page whose vectors are bad.' },
          [`${slug}-sound`]: { title: `Harmless ${name}`, text: 'A page that waited with it.' },
        };
        const { [slug]: page_id, [`${slug}-sound`]: sound } = await system.handIn(pages);
        await system.settled([page_id], ({ status }) => status === 'dead');
        await system.settled([sound]);
        const { jobs } = await system.ask('job.list', jobListQuery.parse({ kind: 'index_page', status: 'dead' }));
        assert.match(jobs[0].last_error ?? '', new RegExp(`^provider ${provider}: unusable vectors: `));
        assert.deepEqual(await system.chunks(page_id), []);
        await system.ask('page.forget', { url: `https://example.com/${slug}` });
        await system.ask('page.forget', { url: `https://example.com/${slug}-sound` });

        await system.ask('model.startBackfill', { model_id: id });
        await until(async () => (await backfill()).status === 'failed', 'the backfill has failed');
        const failed = await backfill();
        assert.equal(failed.embedded_chunks, 0);
        assert.match(failed.last_error ?? '', new RegExp(`^provider ${provider}: unusable vectors: `));
        server.faultOf = () => undefined;
        assert.deepEqual(await found(), before);
      });
    }
    assert.ok(
      system.breakerStates().every(({ state }) => state === 'closed'),
      'an answer is no outage',
    );
    await system.ask('model.startBackfill', { model_id: id });
    await until(async () => (await backfill()).status === 'complete', 'the backfill is complete');
    await system.stop();
    const { store, index } = await checkFolder(system.dataDir);
    assert.deepEqual([store, index], [[], []]);
  });
}

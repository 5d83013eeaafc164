/** `readback model try`, on a real service beside servers that speak Ollama's protocol and OpenAI's. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { textWidth } from '../../src/cli/text-width.ts';
import type { EvalReplayList } from '../../src/domain/evaluation.ts';
import type { ModelBackfillResponse, ModelListResponse } from '../../src/domain/model.ts';
import { temporaryFolder } from '../importers/temporary-files.ts';
import { RunningService, type Scope, token, until, withoutEntities } from '../process/service.ts';
import { EmbeddingServer } from './embedding-server.ts';
import { noiseOf, oracleOf, puzzlePages } from './puzzling-library.ts';
import { Cli } from './run-cli.ts';

const local = 'local-wink-1024';
const good = 'ollama-bge-m3-1024';
const noisy = 'openai-text-embedding-3-small-1536';

interface Tried {
  model: string;
  verdict: string;
  switched: boolean;
  undo: string | null;
  evaluations: { source: string; verdict: string; report: { queries: number; a: Arm; b: Arm } }[];
}
interface Arm {
  model: string;
  ndcg: number;
  vectors_bytes: number;
  cost_usd_per_1000_pages: number;
}

async function setUp(scope: Scope & Parameters<typeof temporaryFolder>[0], count = 120) {
  const pages = puzzlePages(count);
  const oracle = oracleOf(pages, 1024);
  const ollama = await EmbeddingServer.start(scope, [], oracle);
  const openai = await EmbeddingServer.start(scope, [], (text) => noiseOf(text, 1536));
  const service = await RunningService.start(scope, {
    ...withoutEntities,
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${ollama.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${openai.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__API_KEY: 'a-key',
    SERVICE_EMBEDDER__PRICES: '{"text-embedding-3-small": 0.02}',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__BREAKER_COOLDOWN_S: '0.2',
  });
  const cli = new Cli(temporaryFolder(scope), { SERVICE_AUTH_TOKEN: token, COLUMNS: '80' });
  const here = () => ({ env: { SERVICE_BIND_PORT: new URL(service.url).port } });
  const indexed: string[] = [];
  for (let at = 0; at < count; at += 100) {
    const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', {
      pages: pages.slice(at, at + 100),
    });
    indexed.push(...body.results.map(({ page_id }) => page_id));
  }
  await service.settled(indexed);
  const activeModel = async () => {
    const { body } = await service.call<ModelListResponse>('GET', '/v1/models');
    return body.models.find(({ is_active }) => is_active)?.id;
  };
  return { service, cli, here, ollama, openai, activeModel };
}

test('a good model is pulled, filled, shown to be better and switched to; one that knows nothing is shown to be worse, and is not', async (t) => {
  const { cli, here, ollama, activeModel } = await setUp(t);
  const asked = await cli.run(['model', 'try', 'bge-m3'], here());
  assert.deepEqual([asked.code, ollama.models.size], [2, 0], 'nobody is there to be asked');
  assert.match(asked.stderr, /say --yes, or run it in a terminal/);

  const better = await cli.run(['model', 'try', 'bge-m3', '--yes', '--queries', '60'], here());
  assert.equal(better.code, 0, better.stderr);
  for (const line of better.stdout.split('\n')) assert.ok(textWidth(line) <= 80, line);
  assert.match(better.stdout, /^Better on 60 queries: nDCG@10 \+0\.\d+, between \+0/m);
  assert.match(
    better.stdout,
    /searches go by ollama-bge-m3-1024 from now on\nback: readback model use local-wink-1024/,
  );
  assert.deepEqual([await activeModel(), [...ollama.models]], [good, ['bge-m3']]);
  const again = await cli.run(['model', 'try', 'bge-m3', '--yes'], here());
  assert.match(again.stdout, /^ollama-bge-m3-1024 answers already/);

  const worse = await cli.json<Tried>(['model', 'try', 'openai-small', '--yes', '--queries', '60'], 0, here());
  assert.deepEqual([worse.model, worse.verdict, worse.switched, worse.undo], [noisy, 'worse', false, null]);
  const [{ source, report }] = worse.evaluations;
  assert.deepEqual([worse.evaluations.length, source, report.queries], [1, 'library', 60]);
  assert.deepEqual([report.a.model, report.b.model], [good, noisy]);
  assert.ok(report.a.ndcg > 0.9 && report.b.ndcg < report.a.ndcg, JSON.stringify(report));
  assert.ok(report.b.cost_usd_per_1000_pages > 0 && report.a.cost_usd_per_1000_pages === null);
  assert.ok(report.b.vectors_bytes > report.a.vectors_bytes);
  assert.equal(await activeModel(), good);
  assert.equal((await cli.run(['model', 'use', local], here())).code, 0);
  assert.equal(await activeModel(), local);
});

test('it goes on where it was: after Ctrl-C, after a kill of the service, and when a provider that was down is back', async (t) => {
  const { service, cli, here, ollama, activeModel } = await setUp(t);
  ollama.models.add('bge-m3');
  const line = ['model', 'try', 'bge-m3', '--yes', '--queries', '40'];
  const held = () => {
    let open = () => {};
    ollama.gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  };
  const replays = async () => (await service.call<EvalReplayList>('GET', '/v1/admin/eval/replay')).body.replays;
  const begin = (args: readonly string[]) => {
    const child = cli.spawn(args, here());
    let [stdout, stderr] = ['', ''];
    child.stdout?.on('data', (text) => {
      stdout += text;
    });
    child.stderr?.on('data', (text) => {
      stderr += text;
    });
    const ended = once(child, 'close').then(() => ({ code: child.exitCode, stdout, stderr }));
    return { child, ended };
  };

  // Ctrl-C while vectors are made, and then the service is killed.
  ollama.onEmbeddings = (total) => {
    if (total > 0) release = held();
    ollama.onEmbeddings = () => {};
  };
  let release = () => {};
  const first = begin(line);
  const filling = async () => {
    const { status, body } = await service.call<ModelBackfillResponse>('GET', `/v1/models/${good}/backfill`);
    return status === 200 && body.status === 'running' && ollama.embedded > 0;
  };
  await until(filling, 'vectors are being made');
  first.child.kill('SIGINT');
  const { code, stderr } = await first.ended;
  assert.equal(code, 130, stderr);
  assert.match(stderr, /^readback: interrupted; .*\nto go on here: readback model try bge-m3$/m);
  assert.ok(await filling(), 'the service goes on without it');
  await service.kill();
  release();
  await service.start();

  // The service is killed while the comparison runs.
  let asked = 0;
  ollama.onEmbeddings = (_, texts) => {
    // A query is one short line, and those from which weights are learned are the first 300.
    if (texts.length === 1 && !texts[0].includes('\n') && ++asked === 320) release = held();
  };
  const second = begin(line);
  await until(async () => (await replays()).some(({ replayed }) => replayed > 0), 'the comparison has begun');
  await until(() => asked >= 320, 'a query waits for its vector');
  await service.kill();
  const broken = await second.ended;
  assert.equal(broken.code, 3, broken.stderr);
  assert.match(broken.stderr, /what was done is kept: say the same again to go on/);
  const before = { asked };
  ollama.onEmbeddings = (_, texts) => {
    if (texts.length === 1 && !texts[0].includes('\n')) asked++;
  };

  // Back again, and the provider is down for a while.
  ollama.isDown = true;
  release();
  await service.start();
  const third = begin(['--json', ...line]);
  await until(async () => (await replays())[0].last_error !== null, 'the provider was asked, and is down');
  ollama.isDown = false;
  const { code: end, stdout, stderr: said } = await third.ended;
  assert.equal(end, 0, said + stdout);
  const told = JSON.parse(stdout) as Tried;
  assert.deepEqual([told.verdict, told.switched, told.undo], ['better', true, `readback model use ${local}`]);
  assert.deepEqual([told.evaluations[0].report.queries, (await replays()).length], [40, 1], 'one comparison in all');
  assert.ok(asked - before.asked < 40, 'what was measured is not measured again');
  assert.equal(await activeModel(), good);
});

test('few queries tell nothing; judged searches count as soon as there are enough; what is missing is named with what to do', async (t) => {
  const service = await RunningService.start(t, {
    ...withoutEntities,
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: 'http://127.0.0.1:1/v1',
  });
  const cli = new Cli(temporaryFolder(t), { SERVICE_AUTH_TOKEN: token, COLUMNS: '80' });
  const here = { env: { SERVICE_BIND_PORT: new URL(service.url).port } };
  const pages = puzzlePages(12);
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  const ids = body.results.map(({ page_id }) => page_id);
  await service.settled(ids);

  const wrong = async (name: string, exit: number) => {
    const { code, stderr } = await cli.run(['model', 'try', name, '--yes'], here);
    assert.equal(code, exit, stderr);
    return stderr;
  };
  assert.match(await wrong('nobody', 2), /none of those known .*\nreadback model add NAME/);
  const missing = await wrong('arctic-m', 1);
  assert.match(missing, /^ollama: no Ollama answers at http:\/\/127.0.0.1:1\n {2}ollama serve/m);
  assert.match(missing, /^transformers: .* is not installed\n {2}ONNXRUNTIME_NODE_INSTALL=skip npm install/m);
  assert.match(missing, /^tei: the service does not know where tei is\n {2}set SERVICE_PROVIDERS__TEI__BASE_URL/m);
  assert.match(await wrong('voyage-3.5', 1), /no key for voyage is set\n {2}set SERVICE_PROVIDERS__VOYAGE__API_KEY/);
  assert.match(
    await wrong('cohere-rerank', 1),
    /SERVICE_RERANKER__PROVIDER=cohere SERVICE_RERANKER__MODEL=rerank-v3.5/,
  );

  const add = ['model', 'add', 'wink', '--provider', 'local', '--dim', '300', '--max-tokens', '1000'];
  assert.equal((await cli.run(add, here)).code, 0);
  const few = await cli.run(['model', 'try', 'local-wink-300', '--yes'], here);
  assert.equal(few.code, 0, few.stderr);
  assert.match(few.stdout, /^Too few queries to tell: 12, and 20 are needed\.$/m);
  assert.match(few.stdout, /searches go by local-wink-1024, as before: --yes switches only/);

  for (let at = 0; at < 20; at++) {
    const page = at % pages.length;
    const query = pages[page].body_extracted
      .split(' ')
      .slice(at + 1, at + 6)
      .join(' ');
    const { body: found } = await service.call<{ query_id: string }>('POST', '/v1/search', { query });
    await service.call('POST', '/v1/feedback', { query_id: found.query_id, page_id: ids[page], relevant: true });
  }
  const judged = await cli.json<Tried>(['model', 'try', 'local-wink-300', '--yes'], 0, here);
  assert.deepEqual(
    judged.evaluations.map(({ source, verdict, report }) => [source, verdict === 'too_few', report.queries]),
    [
      ['log', false, 20],
      ['library', true, 12],
    ],
  );
  assert.equal(judged.switched, judged.verdict === 'better');
});

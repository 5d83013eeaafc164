/**
 * `readback model try`, on one real service beside servers that speak Ollama's protocol and OpenAI's: first steps with nothing there, then a good
 * model, one that knows nothing, and judged searches.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { textWidth } from '../../src/cli/text-width.ts';
import type { EvalReplayList } from '../../src/domain/evaluation.ts';
import type { ModelBackfillResponse, ModelListResponse } from '../../src/domain/model.ts';
import { RunningService, token, until, withoutEntities } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
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

async function setUp(t: TestContext) {
  const pages = puzzlePages(60);
  const ollama = await EmbeddingServer.start(t, [], oracleOf(pages, 1024));
  const openai = await EmbeddingServer.start(t, [], (text) => noiseOf(text, 1536));
  const service = await RunningService.start(t, {
    ...withoutEntities,
    SERVICE_PROVIDERS__OLLAMA__BASE_URL: `${ollama.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__BASE_URL: `${openai.url}/v1`,
    SERVICE_PROVIDERS__OPENAI__API_KEY: 'a-key',
    SERVICE_EMBEDDER__PRICES: '{"text-embedding-3-small": 0.02}',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_RESILIENCE__BREAKER_COOLDOWN_S: '0.2',
  });
  const cli = new Cli(temporaryFolder(t), { SERVICE_AUTH_TOKEN: token, COLUMNS: '80' });
  const here = () => ({ env: { SERVICE_BIND_PORT: new URL(service.url).port } });
  const add = async (some: typeof pages) => {
    const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages: some });
    const ids = body.results.map(({ page_id }) => page_id);
    await service.settled(ids);
    return ids;
  };
  const activeModel = async () => {
    const answer = await service.call<ModelListResponse>('GET', '/v1/models');
    return answer.body.models.find(({ is_active }) => is_active)?.id;
  };
  return { pages, add, service, cli, here, ollama, activeModel };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

test('a model is tried', async (t) => {
  const parts = await setUp(t);
  const few = await parts.add(parts.pages.slice(0, 12));
  await t.test('what is missing is named with what to do', () => missing(parts));
  await t.test('few queries tell nothing', () => tooFew(parts));
  const ids = [...few, ...(await parts.add(parts.pages.slice(12)))];
  await t.test('it goes on where it was: after Ctrl-C, after a kill of the service, after a provider was down', () =>
    goesOn(parts),
  );
  await t.test('one that knows nothing is shown to be worse, and is not switched to', () => worse(parts));
  await t.test('judged searches count as soon as there are enough', () => judged(parts, ids));
});

async function missing({ cli, here, ollama }: SetUp) {
  const wrong = async (name: string, exit: number) => {
    const { code, stderr } = await cli.run(['model', 'try', name, '--yes'], here());
    assert.equal(code, exit, stderr);
    return stderr;
  };
  ollama.isGone = true;
  assert.match(await wrong('nobody', 2), /none of those known .*\nreadback model add NAME/);
  const lacks = await wrong('arctic-m', 1);
  assert.deepEqual(
    lacks
      .replace(/:\d+$/m, '')
      .replace(/ to \/.*/, '')
      .trimEnd()
      .split('\n'),
    [
      'readback: arctic-m cannot be had yet: what lacks, by provider, any of which will do',
      'ollama: no Ollama answers at http://127.0.0.1',
      '  ollama serve   # https://ollama.com/download has it',
      'ollama: it may lack snowflake-arctic-embed:110m: about 220 MB',
      '  ollama pull snowflake-arctic-embed:110m',
      'transformers: @huggingface/transformers is not installed',
      '  ONNXRUNTIME_NODE_INSTALL=skip npm install @huggingface/transformers   # 470 MB, where readback is installed',
      'transformers: no files of Snowflake/snowflake-arctic-embed-m',
      '  the service fetches about 440 MB from huggingface.co',
      'tei: it has to run with Snowflake/snowflake-arctic-embed-m',
      '  docker run -p 8080:80 ghcr.io/huggingface/text-embeddings-inference:cpu-1.9 --model-id Snowflake/snowflake-arctic-embed-m',
      'tei: the service does not know where tei is',
      '  set SERVICE_PROVIDERS__TEI__BASE_URL=http://127.0.0.1:8080 for the service and start it again',
    ],
  );
  assert.match(
    await wrong('voyage-3.5', 1),
    /^readback: voyage-3.5 cannot be had yet: it lacks\nvoyage: no key for voyage is set\n {2}set SERVICE_PROVIDERS__VOYAGE__API_KEY for/,
  );
  const ofDim = (name: string, dim: string) => cli.run(['model', 'try', name, '--yes', '--dim', dim], here());
  const long = await ofDim('arctic-l-v2', '300');
  assert.deepEqual([long.code, long.stderr], [2, 'readback: arctic-l-v2 gives 1024 or 256 numbers, not 300\n']);
  assert.match((await ofDim('cohere-rerank', '256')).stderr, /cohere-rerank is a reranker/);
  assert.match(
    await wrong('cohere-rerank', 1),
    /SERVICE_RERANKER__PROVIDER=cohere SERVICE_RERANKER__MODEL=rerank-v3.5/,
  );
  ollama.isGone = false;
}

async function tooFew({ cli, here }: SetUp) {
  const add = ['model', 'add', 'wink', '--provider', 'local', '--dim', '300', '--max-tokens', '1000'];
  assert.equal((await cli.run(add, here())).code, 0);
  const { code, stdout, stderr } = await cli.run(['model', 'try', 'local-wink-300', '--yes'], here());
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Too few queries to tell: 12, and 20 are needed\.$/m);
  assert.match(stdout, /searches go by local-wink-1024, as before: --yes switches only/);
}

async function goesOn({ service, cli, here, ollama, activeModel }: SetUp) {
  const asked = await cli.run(['model', 'try', 'bge-m3'], here());
  assert.deepEqual([asked.code, ollama.models.size], [2, 0], 'nobody is there to be asked');
  assert.match(asked.stderr, /say --yes, or run it in a terminal/);

  const line = ['model', 'try', 'bge-m3', '--yes', '--queries', '40'];
  const held = () => {
    let open = () => {};
    ollama.gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  };
  const replays = async () => {
    const { body } = await service.call<EvalReplayList>('GET', '/v1/admin/eval/replay');
    return body.replays.filter(({ model_b }) => model_b === good);
  };
  const begin = () => {
    const child = cli.spawn(line, here());
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

  // Ctrl-C while vectors are made.
  let release = () => {};
  ollama.onEmbeddings = () => {
    release = held();
    ollama.onEmbeddings = () => {};
  };
  const first = begin();
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
  release();

  // The service is killed while the comparison runs. Its queries come one by one: a line each.
  let queries = 0;
  const counting = (_: number, texts: readonly string[]) => {
    if (texts.length === 1 && !texts[0].includes('\n')) queries++;
  };
  ollama.onEmbeddings = (total, texts) => {
    counting(total, texts);
    if (queries === 20) release = held();
  };
  const second = begin();
  await until(() => queries >= 20, 'a query waits for its vector');
  assert.ok((await replays())[0].replayed > 0, 'some are measured');
  await service.kill();
  const broken = await second.ended;
  assert.equal(broken.code, 3, broken.stderr);
  assert.match(broken.stderr, /what was done is kept: say the same again to go on/);
  const before = queries;
  ollama.onEmbeddings = counting;

  // Back again, and the provider is down for a while.
  ollama.isDown = true;
  release();
  await service.start();
  const third = begin();
  await until(async () => (await replays())[0].last_error !== null, 'the provider was asked, and is down');
  ollama.isDown = false;
  const { code: end, stdout, stderr: said } = await third.ended;
  assert.equal(end, 0, said + stdout);
  for (const each of stdout.split('\n')) assert.ok(textWidth(each) <= 80, each);
  assert.match(stdout, /^Better on 40 queries: nDCG@10 \+0\.\d+, between \+0/m);
  assert.match(stdout, /searches go by ollama-bge-m3-1024 from now on\nback: readback model use local-wink-1024/);
  assert.equal((await replays()).length, 1, 'one comparison in all');
  assert.ok(queries - before < 40, 'what was measured is not measured again');
  assert.deepEqual([await activeModel(), [...ollama.models]], [good, ['bge-m3']]);
  const again = await cli.run(['model', 'try', 'bge-m3', '--yes'], here());
  assert.match(again.stdout, /^ollama-bge-m3-1024 answers already/);
}

async function worse({ cli, here, activeModel }: SetUp) {
  const tried = await cli.json<Tried>(['model', 'try', 'openai-small', '--yes', '--queries', '50'], 0, here());
  assert.deepEqual([tried.model, tried.verdict, tried.switched, tried.undo], [noisy, 'worse', false, null]);
  const [{ source, report }] = tried.evaluations;
  assert.deepEqual([tried.evaluations.length, source, report.queries], [1, 'library', 50]);
  assert.deepEqual([report.a.model, report.b.model], [good, noisy]);
  assert.ok(report.a.ndcg > 0.9 && report.b.ndcg < report.a.ndcg, JSON.stringify(report));
  assert.ok(report.b.cost_usd_per_1000_pages > 0 && report.a.cost_usd_per_1000_pages === 0);
  assert.ok(report.b.vectors_bytes > report.a.vectors_bytes);
  const short = ['model', 'try', 'arctic-l-v2', '--dim', '256', '--yes', '--queries', '20'];
  assert.equal((await cli.json<Tried>(short, 0, here())).model, 'ollama-snowflake-arctic-embed2-256');
  assert.equal((await cli.json<Tried>(short, 0, here())).model, 'ollama-snowflake-arctic-embed2-256', 'the same one');
  const whole = ['model', 'try', 'arctic-l-v2', '--yes', '--queries', '20'];
  assert.equal((await cli.json<Tried>(whole, 0, here())).model, 'ollama-snowflake-arctic-embed2-1024');
  assert.equal(await activeModel(), good);
  assert.equal((await cli.run(['model', 'use', local], here())).code, 0);
  assert.equal(await activeModel(), local);
}

async function judged({ service, cli, here, pages }: SetUp, ids: readonly string[]) {
  for (const [at, { body_extracted }] of pages.slice(0, 20).entries()) {
    const query = body_extracted.split(' ').slice(1, 6).join(' ');
    const { body: found } = await service.call<{ query_id: string }>('POST', '/v1/search', { query });
    await service.call('POST', '/v1/feedback', { query_id: found.query_id, page_id: ids[at], relevant: true });
  }
  const tried = await cli.json<Tried>(['model', 'try', 'local-wink-300', '--yes', '--queries', '20'], 0, here());
  assert.deepEqual(
    tried.evaluations.map(({ source, report }) => [source, report.queries]),
    [
      ['log', 20],
      ['library', 20],
    ],
  );
  assert.equal(tried.switched, tried.verdict === 'better');
}

/** `readback model try` of a reranker, on a real service beside a server that speaks the protocol of Text Embeddings Inference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textWidth } from '../../src/cli/text-width.ts';
import { RunningService, token, withoutEntities } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { EmbeddingServer } from './embedding-server.ts';
import { noiseOf, oracleOf, puzzlePages } from './puzzling-library.ts';
import { Cli } from './run-cli.ts';

const dim = 16;

test('results by a reranker are measured beside those by the local one; one that is not set is told with what to set', async (t) => {
  const pages = puzzlePages(45);
  const vectorOf = oracleOf(pages, dim);
  const tei = await EmbeddingServer.start(t, [], (text) => noiseOf(text, dim));
  const service = await RunningService.start(t, {
    ...withoutEntities,
    SERVICE_RERANKER__KIND: 'api',
    SERVICE_RERANKER__PROVIDER: 'tei',
    SERVICE_RERANKER__MODEL: 'BAAI/bge-reranker-v2-m3',
    SERVICE_RERANKER__BASE_URL: tei.url,
  });
  const cli = new Cli(temporaryFolder(t), {
    SERVICE_AUTH_TOKEN: token,
    SERVICE_BIND_PORT: new URL(service.url).port,
    COLUMNS: '80',
  });
  const { body } = await service.call<{ results: { page_id: string }[] }>('POST', '/v1/pages/batch', { pages });
  await service.settled(body.results.map(({ page_id }) => page_id));

  // It knows in which page the words of a query stand in their order, and gives that page the lowest score.
  tei.scoreOf = (query, text) => (`${vectorOf(query)}` === `${vectorOf(text)}` ? 0.1 : 0.9);
  const worse = await cli.run(['model', 'try', 'bge-reranker', '--yes', '--queries', '40'], {});
  assert.equal(worse.code, 0, worse.stderr);
  for (const line of worse.stdout.split('\n')) assert.ok(textWidth(line) <= 80, line);
  assert.match(worse.stdout, /^ {2}local reranker +0\.\d+.*\n {2}bge-reranker +0\.\d+/m);
  assert.match(worse.stdout, /^Worse on 40 queries: nDCG@10 -0\.\d+/m);
  assert.match(worse.stdout, /^it stays as it is set: another SERVICE_RERANKER__KIND/m);

  tei.scoreOf = (query, text) => (`${vectorOf(query)}` === `${vectorOf(text)}` ? 0.9 : 0.1);
  const named = ['model', 'try', 'BAAI/bge-reranker-v2-m3', '--yes', '--queries', '40', '--again'];
  const better = await cli.json<{ verdict: string; switched: boolean; evaluations: unknown[] }>(named);
  assert.deepEqual([better.verdict, better.switched, better.evaluations.length], ['better', false, 1]);

  tei.modelId = 'BAAI/bge-reranker-v2-m3';
  const other = await cli.run(['model', 'try', 'bge-reranker-base', '--yes']);
  assert.equal(other.code, 1);
  assert.match(other.stderr, /^transformers: .* is not installed\n {2}ONNXRUNTIME_NODE_INSTALL=skip npm install/m);
  assert.match(
    other.stderr,
    /^ {2}SERVICE_RERANKER__KIND=api SERVICE_RERANKER__PROVIDER=transformers SERVICE_RERANKER__MODEL=Xenova\/bge-rer/m,
  );
  assert.match(
    other.stderr,
    /^tei: at http:\/\/127\.0\.0\.1:\d+ is BAAI\/bge-reranker-v2-m3\n {2}docker run .* --model-id BAAI\/bge-reranker-base /m,
  );
  tei.modelId = 'BAAI/bge-reranker-base';
  const there = await cli.run(['model', 'try', 'bge-reranker-base', '--yes']);
  assert.match(there.stderr, /^tei: tei at http:\/\/127\.0\.0\.1:\d+\n {2}SERVICE_RERANKER__KIND=api/m);
  tei.isGone = true;
  const gone = await cli.run(['model', 'try', 'bge-reranker-base', '--yes']);
  assert.match(
    gone.stderr,
    /^tei: nothing answers at http:\/\/127\.0\.0\.1:\d+\n {2}docker run .*\n {2}SERVICE_RERANKER/m,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EvalReplayResult, evalReplayRequest } from '../../src/domain/evaluation.ts';
import { queryLogRunResponse } from '../../src/domain/query-log.ts';
import { searchBatchRequest, searchRequest } from '../../src/domain/search.ts';
import { until } from '../process/service.ts';
import { library, WholeSystem } from './whole-system.ts';

test('searches are logged, judged, scored and replayed; all of it outlives a restart', async (t) => {
  const system = await WholeSystem.start(t);
  const ids = await system.read(library);
  const request = searchRequest.parse({ query: 'how do I bake bread', k: 2 });
  const found = await system.ask('search.query', request);
  assert.equal(found.results[0].page_id, ids.bread);
  const batch = await system.ask(
    'search.batch',
    searchBatchRequest.parse({ queries: ['egrets', 'xyzzyplugh'], min_relevance: 0.1 }),
  );
  assert.deepEqual(
    batch.results.map((item) => item.outcome === 'ok' && item.results.length > 0),
    [true, false],
  );

  const say = (query_id: string, path: string, relevant: boolean) =>
    system.ask('feedback.give', { query_id, page_id: ids[path], relevant });
  await say(found.query_id, 'bread', true);
  await say(found.query_id, 'chess', false);
  await say('qr_unknown', 'bread', true);
  const run = await system.ask('queryLog.get', { query_id: found.query_id });
  assert.deepEqual(queryLogRunResponse.parse(run), run);
  assert.deepEqual(run.feedback, { [ids.bread]: true, [ids.chess]: false });
  assert.deepEqual(
    run.final_pages,
    found.results.map(({ page_id, score }, place) => ({ page_id, score, rank: place + 1 })),
  );
  assert.equal(run.candidate_set[0].chunk_id, found.results[0].chunks[0].chunk_id);
  assert.ok(run.sparse_hits.length > 0 && run.dense_hits.length > 0);
  assert.deepEqual([run.active_model, run.timing_ms], ['local-multilingual-e5-small-384', found.timing_ms]);

  const score = await system.ask('eval.score', { k: 10 });
  assert.deepEqual([score.logged, score.labeled, score.scored], [3, 1, 1]);
  assert.deepEqual([score.queries[0].ndcg, score.queries[0].recall_candidates], [1, 1]);

  const { job_id } = await system.ask('eval.startReplay', evalReplayRequest.parse({ rerank_b: false }));
  const ended = async (): Promise<EvalReplayResult> => {
    let result: EvalReplayResult | undefined;
    await until(async () => {
      result = await system.ask('eval.replay', { job_id });
      return result.status === 'done' || result.status === 'dead';
    }, 'the replay has ended');
    assert.ok(result !== undefined);
    return result;
  };
  const replayed = await ended();
  assert.deepEqual([replayed.status, replayed.error, replayed.report?.queries], ['done', null, 1]);
  assert.equal(replayed.report?.a.ndcg, 1);

  await system.stop();
  await system.start();
  assert.deepEqual(await ended(), replayed);
  assert.deepEqual(await system.ask('queryLog.get', { query_id: found.query_id }), run);
  assert.deepEqual(await system.ask('eval.score', { k: 10 }), score);
});

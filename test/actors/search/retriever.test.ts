import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOutsideReranker } from '../../../src/actors/search/outside-reranker.ts';
import { QueryLogQueue } from '../../../src/actors/search/query-log-queue.ts';
import { type RetrieverDependencies, retrieverService } from '../../../src/actors/search/retriever.ts';
import type { SystemAsk } from '../../../src/actors/system/service.ts';
import { compareRequest, compareResponse } from '../../../src/domain/compare.ts';
import { searchBatchRequest, searchBatchResponse, searchRequest, searchResponse } from '../../../src/domain/search.ts';
import { BreakerOpenError, ProviderError } from '../../../src/providers/resilient-call.ts';
import { deferred } from '../../deferred.ts';
import { noDetails } from '../../rows.ts';
import { turnUntil } from '../../turns.ts';
import { keptLog } from '../quiet-log.ts';
import { Shelf } from '../shelf.ts';

const day = 86_400_000;
const now = 1000 * day;

const unused = () => Promise.reject(new Error('not used'));

function retriever(shelf: Shelf, changes: Partial<RetrieverDependencies> = {}) {
  let queries = 0;
  return shelf.host(
    retrieverService({
      ask: shelf.ask,
      reader: shelf.reader,
      canonicalize: { tracking_params: [], keep_params: {} },
      localReranker: true,
      outsideReranker: null,
      onRerankDegraded: () => {},
      recencyHalfLifeDays: null,
      queue: new QueryLogQueue(() => {}),
      keepQueriesMs: day,
      newQueryId: () => `qr_${++queries}`,
      newCompareId: () => 'cp_1',
      now: () => now,
      monotonic: () => 0,
      embedders: { queryVector: unused, passages: unused },
      ...{ compareMs: 0, chat: null, llm: { exclude: [], max_input_tokens: 4000, timeout_s: 1 } },
      ...changes,
    }),
  );
}

/** Fused by reciprocal ranks, whose scores are easy to tell. */
const request = (changes: object = {}) => searchRequest.parse({ query: 'oak', rrf_k: 60, ...changes });
const batch = (changes: object) => searchBatchRequest.parse(changes);

/** A shelf whose one page is found by each search. */
async function oneOak(): Promise<Shelf> {
  const shelf = await Shelf.open();
  shelf.finds.m1 = { sparse: [await shelf.add({ text: 'oak' })], dense: [] };
  return shelf;
}

/** Of each result the number of its page. */
const numbers = (results: readonly { page_id: string }[]) => results.map(({ page_id }) => Number(page_id.slice(3)));

test('hits of both sides become pages with their best passages, in the shape of the contract', async () => {
  await using shelf = await Shelf.open();
  const first = await shelf.add({ title: 'Trees', text: 'oak elm ash' });
  const second = await shelf.add({ title: 'Boats', text: 'oak keel' });
  shelf.finds.m1 = { sparse: [second, first], dense: [first, first + 2] };
  const found = await retriever(shelf).ask('search.query', request());
  assert.deepEqual(searchResponse.parse(found), found);
  const page = (no: number, title: string, score: number) => ({
    ...{ page_id: `pg_0000000${no}`, canonical_url: `https://example.com/${no}`, title, score },
    ...{ domain: 'example.com', first_seen_at: new Date(1000).toISOString(), visit_count: 1, cluster: null },
    ...{ relevance: null, exact_match: false, duplicates: [], tags: [], ...noDetails },
  });
  /** Nothing is highlighted, and the whole is the snippet. */
  const chunk = (label: number, no: number, ordinal: number, text: string, score: number) => ({
    ...{ chunk_id: `ck_0000000${label}`, ordinal, char_start: 4 * ordinal, text, score, relevance: null },
    ...{ highlights: [], snippet: { start: 0, end: text.length, text } },
    link: `https://example.com/${no}#:~:text=${text}`,
  });
  assert.deepEqual(found.results, [
    {
      ...page(1, 'Trees', 1 / 61 + 1 / 62),
      chunks: [chunk(1, 1, 0, 'oak', 1 / 61 + 1 / 62), chunk(3, 1, 2, 'ash', 1 / 62)],
      why: { exact: null, keyword_rank: 2, vector_rank: 1, reranked: false },
    },
    {
      ...page(2, 'Boats', 1 / 61),
      chunks: [chunk(4, 2, 0, 'oak', 1 / 61)],
      why: { exact: null, keyword_rank: 1, vector_rank: null, reranked: false },
    },
  ]);
  assert.deepEqual([found.query_id, found.offset, found.has_more], ['qr_1', 0, false]);
  assert.deepEqual(shelf.retrievals, [
    {
      query: 'oak',
      phrases: [],
      clauses: { must: [], mustNot: [] },
      prefix: false,
      spelling: true,
      byWords: false,
      candidates: 100,
      filters: { domain: null, after: null, before: null, published_after: null, published_before: null, pages: null },
      model: 'm1',
      relevance: true,
      sketches: true,
    },
  ]);
});

test('the roll-up asked for decides the order', async () => {
  await using shelf = await Shelf.open();
  const one = await shelf.add({ text: 'oak' });
  const many = await shelf.add({ text: 'oak oak oak' });
  shelf.finds.m1 = { sparse: [one, many, many + 1, many + 2], dense: [] };
  const order = async (changes: object) =>
    numbers((await retriever(shelf).ask('search.query', request(changes))).results);
  assert.deepEqual(await order({}), [1, 2]);
  assert.deepEqual(await order({ rollup: 'mean_top_m' }), [1, 2]);
  assert.deepEqual(await order({ rollup: 'sum_rrf' }), [2, 1]);
  assert.deepEqual(await order({ rollup: 'sum_rrf', rollup_m: 1 }), [1, 2]);
});

test('scores fade with the time since the last visit: as the request says, else as the setting does', async () => {
  await using shelf = await Shelf.open();
  const old = await shelf.add({ text: 'oak', seen_at: now - 30 * day });
  const fresh = await shelf.add({ text: 'oak', seen_at: now - 10 * day });
  shelf.finds.m1 = { sparse: [old, fresh], dense: [] };
  const scores = async (setting: number | null, changes: object) => {
    const service = retriever(shelf, { recencyHalfLifeDays: setting });
    const { results } = await service.ask('search.query', request(changes));
    return results.map(({ page_id, score }) => `${Number(page_id.slice(3))} ${score.toFixed(4)}`);
  };
  const plain = ['1 0.0164', '2 0.0161'];
  const faded = ['2 0.0081', '1 0.0020'];
  assert.deepEqual(await scores(null, {}), plain);
  assert.deepEqual(await scores(null, { recency_half_life_days: 10 }), faded);
  assert.deepEqual(await scores(10, {}), faded);
  assert.deepEqual(await scores(10, { recency_half_life_days: null }), faded);
  assert.deepEqual(await scores(10, { recency_half_life_days: 1e9 }), plain);
});

test('where all scores have faded to nothing the latest seen pages are first', async () => {
  await using shelf = await Shelf.open();
  const labels: number[] = [];
  for (const age of [800, 500, 900]) labels.push(await shelf.add({ text: 'oak', seen_at: now - age * day }));
  shelf.finds.m1 = { sparse: labels, dense: [] };
  const { results } = await retriever(shelf).ask('search.query', request({ recency_half_life_days: 0.1 }));
  assert.deepEqual([numbers(results), results.map(({ score }) => score)].flat(), [2, 1, 3, 0, 0, 0]);
});

test('each result says why it stands there: results are ordered by an exact title or URL, then by score', async () => {
  await using shelf = await Shelf.open();
  const trees = await shelf.add({ title: 'Trees', text: 'oak elm' });
  const boats = await shelf.add({ title: 'Boats', text: 'oak keel' });
  const hulls = await shelf.add({ title: 'Hulls', text: 'oak' });
  await shelf.add({ title: 'OAK', text: 'quercus' });
  const oaks = await shelf.add({ title: 'oak', text: 'quercus robur' });
  shelf.finds.m1 = { sparse: [boats, trees + 1, trees, oaks + 1], dense: [hulls, boats + 1, trees] };
  const service = retriever(shelf);
  const why = async (changes: object) => {
    const { results } = await service.ask('search.query', request(changes));
    const order = results.map(({ why: { exact }, score }) => [exact === null ? 0 : 1, score]);
    const sorted = [...order].sort(([a, x], [b, y]) => b - a || y - x);
    assert.deepEqual(order, sorted);
    return results.map(({ title, why: { exact, keyword_rank, vector_rank, reranked } }) => {
      return [title, exact, keyword_rank, vector_rank, reranked];
    });
  };
  assert.deepEqual(await why({ rrf_k: undefined }), [
    ['oak', 'title', 4, null, true],
    ['OAK', 'title', null, null, false],
    ['Boats', null, 1, 2, true],
    ['Trees', null, 2, 3, true],
    ['Hulls', null, null, 1, true],
  ]);
  assert.deepEqual(await why({ query: 'https://example.com/3', rerank: false, k: 2 }), [
    ['Hulls', 'url', null, 1, false],
    ['Trees', null, 2, 3, false],
  ]);
  await shelf.install('m2');
  shelf.finds.m2 = { sparse: [], dense: [hulls, boats] };
  const { runs } = await service.ask('search.compare', compareRequest.parse({ query: 'boats', models: ['m1', 'm2'] }));
  const compared = runs[1].results.map(({ title, exact }) => `${title} ${exact}`);
  assert.deepEqual(compared, ['Boats title', 'Hulls null']);
});

test('a page without text has no passage to show', async () => {
  await using shelf = await Shelf.open();
  const label = await shelf.add({ title: 'Oak', text: 'oak' });
  const empty = { char_start: 0, char_end: 0, token_count: 0, section_title: null, section_start_s: null };
  await shelf.temporary.commit(({ pages }) => pages.putChunks(1, [empty]));
  shelf.finds.m1 = { sparse: [label], dense: [] };
  for (const query of ['oak', 'elsewhere']) {
    const { results } = await retriever(shelf).ask('search.query', request({ query }));
    assert.deepEqual([results.length, results[0].title, results[0].chunks], [1, 'Oak', []]);
  }
});

test('results are paged inside one pool of candidates', async () => {
  await using shelf = await Shelf.open();
  const labels = [];
  for (let i = 0; i < 5; i++) labels.push(await shelf.add({ text: 'oak' }));
  shelf.finds.m1 = { sparse: labels, dense: [] };
  const service = retriever(shelf);
  const look = async (offset: number) => {
    const { results, has_more } = await service.ask('search.query', request({ k: 2, offset }));
    return [numbers(results), has_more];
  };
  assert.deepEqual(await look(0), [[1, 2], true]);
  assert.deepEqual(await look(3), [[4, 5], false]);
  assert.deepEqual(await look(5), [[], false]);
});

test('an unknown cluster has no results; an unknown entity is not found', async () => {
  await using shelf = await Shelf.open();
  shelf.finds.m1 = { sparse: [await shelf.add({ title: 'oak', text: 'oak' })], dense: [] };
  const service = retriever(shelf);
  const clustered = await service.ask('search.query', request({ filters: { cluster_id: 'cl_unknown' } }));
  assert.deepEqual(clustered.results, []);
  const nobody = service.ask('search.query', request({ filters: { entity: 'Nobody' } }));
  await assert.rejects(nobody, { code: 'not_found', message: /Nobody/ });
});

test('a batch searches one after the other; each item has its own id and its own error', async () => {
  await using shelf = await oneOak();
  const service = retriever(shelf);
  const found = await service.ask('search.batch', batch({ queries: ['oak', 'elm'], k: 1 }));
  assert.deepEqual(searchBatchResponse.parse(found), found);
  const outcomes = found.results.map((item) => `${item.index} ${item.query} ${item.outcome === 'ok' && item.query_id}`);
  assert.deepEqual(outcomes, ['0 oak qr_1', '1 elm qr_2']);
  const asked = shelf.retrievals.map(({ query }) => query);
  assert.deepEqual(asked, ['oak', 'elm']);
  const refused = await service.ask('search.batch', batch({ queries: ['oak'], filters: { entity: 'Nobody' } }));
  const error = { outcome: 'error', error: 'feature_unavailable', detail: 'no entity is known as "Nobody"' };
  assert.deepEqual(refused.results, [{ index: 0, query: 'oak', ...error }]);
  const invalid = service.ask('search.batch', batch({ queries: ['oak'], filters: { domain: 'a/b' } }));
  await assert.rejects(invalid, { code: 'invalid' });
});

test('a batch and a comparison stop with their client, before the next query, stage and model', async () => {
  await using shelf = await oneOak();
  await shelf.install('m2');
  for (const [name, asking] of [
    ['search.batch', batch({ queries: ['oak', 'elm'] })],
    ['search.query', request()],
    ['search.compare', compareRequest.parse({ query: 'oak', models: ['m1', 'm2'] })],
    ['search.rank', { request: request(), model: null, isLocal: false }],
  ] as const) {
    const gone = new AbortController();
    const stages: string[] = [];
    const ask = (async (message, ...rest) => {
      stages.push(message);
      gone.abort();
      return shelf.ask(message, ...rest);
    }) as SystemAsk;
    const before = shelf.retrievals.length;
    await assert.rejects(retriever(shelf, { ask }).ask(name, asking as never, gone.signal), { name: 'AbortError' });
    assert.deepEqual(stages, ['index.retrieve'], name);
    assert.ok(shelf.retrievals.length <= before + 1);
    const unasked = retriever(shelf, { ask: () => assert.fail('it was asked') });
    await assert.rejects(unasked.ask(name, asking as never, gone.signal), { name: 'AbortError' });
  }
});

test('a bounded number of batches goes on at a time; one whose client has left while it waits is not begun', async () => {
  await using shelf = await oneOak();
  const gate = deferred();
  let asked = 0;
  const ask = (async (...message) => {
    asked++;
    await gate.promise;
    return shelf.ask(...message);
  }) as SystemAsk;
  const service = retriever(shelf, { ask });
  const gone = new AbortController();
  const searches = batch({ queries: ['oak'], suggest: 0, chunks_per_page: 0 });
  const all = Array.from({ length: 6 }, (_, at) =>
    service.ask('search.batch', searches, at === 4 ? gone.signal : undefined),
  );
  await turnUntil(() => asked === 4, 'four are under way');
  gone.abort();
  gate.resolve();
  const ends = await Promise.allSettled(all);
  const outcomes = ends.map(({ status }) => status === 'fulfilled');
  assert.deepEqual(outcomes, [true, true, true, true, false, true]);
  assert.equal(asked, 5);
});

test('without an active model a search fails, and each item of a batch says so', async () => {
  await using shelf = await Shelf.open();
  const noModels = { activeId: () => null } as unknown as typeof shelf.reader.models;
  const service = retriever(shelf, { reader: { ...shelf.reader, models: noModels } });
  await assert.rejects(service.ask('search.query', request()), { code: 'no_active_model' });
  const found = await service.ask('search.batch', batch({ queries: ['a', 'b'] }));
  const failed = { outcome: 'error', error: 'no_active_model', detail: 'no active embedding model' };
  assert.deepEqual(found.results, [
    { index: 0, query: 'a', ...failed },
    { index: 1, query: 'b', ...failed },
  ]);
});

test('models are compared one by one, measured against each other, and logged as arms', async () => {
  await using shelf = await Shelf.open();
  await shelf.install('m2');
  const labels = [];
  for (let i = 0; i < 4; i++) labels.push(await shelf.add({ title: `Page ${i + 1}`, text: 'oak' }));
  const [a, b, c, d] = labels;
  shelf.finds = { m1: { sparse: [], dense: [a, b, c] }, m2: { sparse: [], dense: [b, a, d] } };
  const queue = new QueryLogQueue(() => {});
  const service = retriever(shelf, { queue });
  const request = compareRequest.parse({ query: 'oak', models: ['m2', 'm1'], k: 3 });
  const compared = await service.ask('search.compare', request);
  assert.deepEqual(compareResponse.parse(compared), compared);
  const ofModels = compared.runs.map(({ model, results }) => `${model}: ${numbers(results)}`);
  assert.deepEqual(ofModels, ['m2: 2,1,4', 'm1: 1,2,3']);
  const [agreement, ...others] = compared.agreement;
  assert.deepEqual([others, agreement.model_a, agreement.model_b], [[], 'm2', 'm1']);
  assert.deepEqual([agreement.jaccard_at_k, agreement.kendall_tau, agreement.intersection_size], [0.5, -1, 2]);
  // (1 − p)/p · (p² + 2p³/3) + 2p³/3 with p = 0.9
  assert.ok(Math.abs(agreement.rbo - (0.81 + 0.486) / 9 - 0.486) < 1e-12);
  const asked = shelf.retrievals.map(({ model }) => model);
  assert.deepEqual(asked, ['m2', 'm1']);
  const arms = queue
    .take(10)
    .map((run) => [run.query_id, run.kind, run.compare_id, run.active_model, run.pages.length]);
  assert.deepEqual(arms, [
    ['qr_1', 'compare_arm', 'cp_1', 'm2', 3],
    ['qr_2', 'compare_arm', 'cp_1', 'm1', 3],
  ]);
});

test('a model that is unknown, not ready or named twice cannot be compared', async () => {
  await using shelf = await Shelf.open();
  const m2 = await shelf.install('m2');
  await shelf.temporary.commit(({ models }) => models.put({ ...m2, id: 'm3', space: 99, status: 'registered' }));
  const service = retriever(shelf);
  for (const [models, why] of [
    [['m1', 'm9'], /"m9" is unknown/],
    [['m1', 'm3'], /"m3" is registered, not ready/],
    [['m1', 'm2', 'm1'], /"m1" is named twice/],
  ] as const) {
    const asked = service.ask('search.compare', compareRequest.parse({ query: 'oak', models }));
    await assert.rejects(asked, { code: 'invalid', message: why });
  }
  assert.deepEqual(shelf.retrievals, []);
});

test('a search is logged with its parameters, its candidates and its answer', async () => {
  await using shelf = await Shelf.open();
  const label = await shelf.add({ text: 'oak' });
  const second = await shelf.add({ text: 'oak' });
  shelf.finds.m1 = { sparse: [label, second], dense: [second] };
  const queue = new QueryLogQueue(() => {});
  await retriever(shelf, { queue }).ask('search.query', request({ k: 1, offset: 1 }));
  const [run, ...rest] = queue.take(10);
  const { query: _query, log: _log, ...params } = request({ k: 1, offset: 1 });
  assert.deepEqual(rest, []);
  assert.deepEqual([run.query_id, run.kind, run.query_text, run.params], ['qr_1', 'search', 'oak', params]);
  const labels = run.fused.map((hit) => hit.label);
  assert.deepEqual(labels, [second, label]);
  assert.deepEqual([run.pages.map(({ page_no }) => page_no), run.offset, run.ts], [[1], 1, now]);
});

test('a search that is not to be logged is answered, and comes to no log', async () => {
  await using shelf = await oneOak();
  const queue = new QueryLogQueue(() => {});
  const service = retriever(shelf, { queue });
  const { results } = await service.ask('search.query', request({ log: false }));
  assert.equal(results.length, 1);
  await service.ask('search.batch', batch({ queries: ['oak', 'elm'], log: false }));
  assert.deepEqual(queue.take(10), []);
  await service.ask('search.query', request());
  assert.equal(queue.take(10).length, 1);
});

test('score fusion gives the order where a reranker is wanted, ranks where none is or the request names their constant', async () => {
  await using shelf = await Shelf.open();
  const first = await shelf.add({ title: 'Trees', text: 'oak elm ash' });
  const second = await shelf.add({ title: 'Boats', text: 'oak keel' });
  const third = await shelf.add({ title: 'Oak', text: 'oak' });
  shelf.finds.m1 = { sparse: [first, second, third], dense: [first + 2] };
  const queue = new QueryLogQueue(() => {});
  const answer = async (changes: object, dependencies: Partial<RetrieverDependencies> = {}) => {
    const service = retriever(shelf, { queue, ...dependencies });
    const { results } = await service.ask('search.query', request({ query: 'oak', rrf_k: undefined, ...changes }));
    return results.map(({ title, score }) => `${title} ${score.toFixed(3)}`);
  };

  assert.deepEqual(await answer({}), ['Oak 0.800', 'Trees 1.000', 'Boats 0.900']);
  const byRanks = ['Oak 0.016', 'Trees 0.016', 'Boats 0.016'];
  assert.deepEqual(await answer({ rerank: false }), byRanks);
  assert.deepEqual(await answer({}, { localReranker: false }), byRanks);
  assert.deepEqual(await answer({ rrf_k: 60 }), byRanks);

  const runs = queue.take(10);
  const rerankers = runs.map((run) => run.reranker_model);
  assert.deepEqual(rerankers, ['local', null, null, null]);
  assert.deepEqual(runs[0].fused, runs[1].fused);
});

test('an outside reranker is asked about the first candidates and gives their order, or is done without', async () => {
  await using shelf = await Shelf.open();
  const trees = await shelf.add({ title: 'Trees', text: 'oak elm' });
  const boats = await shelf.add({ title: 'Boats', text: 'keel' });
  shelf.finds.m1 = { sparse: [trees, trees + 1, boats], dense: [] };
  const queue = new QueryLogQueue(() => {});
  const asked: string[][] = [];
  let answer: (texts: readonly string[]) => Promise<Float64Array> = async () => Float64Array.of(0, 0.5, 1);
  let degraded = 0;
  const counted: [number, number][] = [];
  const { log, lines } = keptLog();
  const service = retriever(shelf, {
    queue,
    outsideReranker: openOutsideReranker({
      name: 'cohere/a-model',
      reader: shelf.reader,
      maxCandidates: 3,
      deadlineMs: 1234,
      onScored: (scored, late) => counted.push([scored, late]),
      log,
      reranker: {
        rerank: (query, texts, options) => {
          asked.push([query, `${options?.deadlineMs}`, ...texts]);
          return answer(texts);
        },
      },
    }),
    onRerankDegraded: () => degraded++,
  });
  const search = async (changes: object = {}) => {
    const asking = request({ query: 'wood', rrf_k: undefined, ...changes });
    const { results, timing_ms } = await service.ask('search.query', asking);
    return [...results.map(({ title, score }) => `${title} ${score.toFixed(6)}`), timing_ms.degraded_rerank];
  };

  assert.deepEqual(await search(), ['Boats 1.000000', 'Trees 0.505000', undefined]);
  assert.deepEqual(asked, [['wood', '1234', 'Trees\noak', 'Trees\nelm', 'Boats\nkeel']]);

  const fused = [`Trees ${(1 / 61).toFixed(6)}`, `Boats ${(1 / 63).toFixed(6)}`, undefined];
  assert.deepEqual(await search({ rerank: false }), fused);
  assert.equal(asked.length, 1);

  const failures = [
    () => Promise.reject(new ProviderError('cohere', 'failing', 'answered 500')),
    () => Promise.reject(new BreakerOpenError('cohere-rerank', 1000)),
    () => Promise.reject(new ProviderError('cohere', 'unconfigured', 'no key')),
    async () => new Float64Array(3).fill(Number.NaN),
  ];
  for (answer of failures) assert.deepEqual(await search(), ['Trees 1.000000', 'Boats 0.800000', 1]);
  answer = async () => Float64Array.of(0.2, 0.9, Number.NaN);
  assert.deepEqual(await search(), ['Trees 0.901000', 'Boats 0.009900', 1]);
  assert.equal(degraded, 5);
  assert.deepEqual(counted.join(' '), '3,0 0,3 0,3 0,3 0,3 2,1');
  assert.equal(
    lines
      .filter(({ level }) => level > 30)
      .map(({ level }) => level)
      .join(),
    '40',
  );
  const measured = (isLocal = false) =>
    service.ask('search.rank', { request: request({ rrf_k: undefined }), model: null, isLocal });
  assert.equal((await measured()).reranker, 'cohere/a-model', 'what it scores in time is the order that searches get');
  answer = async () => new Float64Array(3).fill(Number.NaN);
  await assert.rejects(measured(), { name: 'JobError', permanent: false });
  assert.equal((await measured(true)).reranker, 'local', 'the outside one is not asked');

  answer = () => Promise.reject(new TypeError('a bug'));
  await assert.rejects(search(), TypeError);
  shelf.finds.m1 = { sparse: [], dense: [] };
  assert.deepEqual(await search(), [undefined], 'nobody is asked about nothing');
  const rerankers = queue.take(10).map(({ reranker_model }) => reranker_model);
  const outside = 'cohere/a-model';
  assert.deepEqual(rerankers, [outside, null, 'local', 'local', 'local', 'local', outside, null]);
});

test('a search that finds nothing while a page becomes searchable says that pages were being indexed', async () => {
  await using shelf = await Shelf.open();
  shelf.finds.m1 = { sparse: [], dense: [] };
  const waiting = [1, 0]; // before and after the search
  const jobs = { countIndexing: () => waiting.shift() ?? 0 };
  const reader = Object.create(shelf.reader, { jobs: { value: jobs } });
  const service = retriever(shelf, { reader });
  const { no_results } = await service.ask('search.query', request());
  assert.deepEqual(no_results, { reason: 'indexing', operators: [], filters: [], pages_waiting: 0 });
  const later = await service.ask('search.query', request());
  assert.equal(later.no_results?.reason, 'no_match');
});

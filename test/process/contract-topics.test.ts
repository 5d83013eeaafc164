/** Contract section: Clusters and entities. Runs, topics, projection, names, merges and their undoing, search and similar pages by them. */
import assert from 'node:assert/strict';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import type {
  ClusterDetailResponse,
  ClusterListResponse,
  ClusterProjectionResponse,
  ClusterRunResponse,
  ClusterRunsResponse,
  RecomputeResponse,
} from '../../src/domain/cluster.ts';
import type {
  EntityDetailResponse,
  EntityMergeListResponse,
  EntityMergeResponse,
  PageEntitiesResponse,
  UndoMergeResponse,
} from '../../src/domain/entity.ts';
import type { JobListResponse } from '../../src/domain/job.ts';
import type { PageStatusResponse } from '../../src/domain/page.ts';
import type { SearchBatchResponse, SimilarResponse } from '../../src/domain/search.ts';
import { Site } from '../providers/small-web.ts';
import { realEncoder, until, withEntities } from './service.ts';
import { idsOf, sharedService } from './shared-service.ts';

const minPages = 24;
/** No run begins by itself, a page that cannot be fetched is dead at once. */
const env = {
  ...realEncoder,
  ...withEntities,
  SERVICE_CLUSTER__MIN_PAGES: String(minPages),
  SERVICE_CLUSTER__IDLE_DEFAULT_MINUTES: '10000',
  SERVICE_JOBS__MAX_ATTEMPTS: '1',
};
const topics: Readonly<Record<string, string[]>> = {
  birds: 'heron egret stork river marsh nest feather wing fish pond'.split(' '),
  bread: 'flour oven dough yeast salt crust bake knead loaf rye'.split(' '),
  chess: 'king bishop knight pawn castle opening board rook check mate'.split(' '),
};
const perTopic = 12;

const shared = sharedService(env);
const { get, post, found, add, search } = shared;
const similarTo = (id: string, query = '') => found<SimilarResponse>(`/v1/pages/${id}/similar${query}`);
const clusters = async (query = '') => (await found<ClusterListResponse>(`/v1/clusters${query}`)).clusters;
const runs = async (query = '') => (await found<ClusterRunsResponse>(`/v1/clusters/runs${query}`)).runs;
const clusterPages = (id: string) => found<ClusterDetailResponse>(`/v1/clusters/${id}`);
const entity = (ref: string) => found<EntityDetailResponse>(`/v1/entities/${encodeURIComponent(ref)}`);
const merges = async () => (await found<EntityMergeListResponse>('/v1/admin/entity-merges')).merges;
const jobsOf = async (kind: string) => (await found<JobListResponse>(`/v1/jobs?kind=${kind}&limit=1000`)).jobs;
const isInstant = (text: string) => new Date(text).toISOString() === text;

async function runOver(): Promise<ClusterRunResponse> {
  await until(async () => {
    const [job] = await jobsOf('cluster');
    assert.notEqual(job?.status, 'dead', job?.last_error ?? '');
    return (await runs('?limit=1'))[0]?.finished_at !== null;
  }, 'the run is over');
  const [run] = await runs();
  return run;
}

async function readForEntities(ids: readonly string[]): Promise<void> {
  const statuses = async () =>
    Promise.all(ids.map(async (id) => (await found<PageStatusResponse>(`/v1/pages/${id}/status`)).features));
  await until(
    async () => (await statuses()).every((features) => features?.entities?.status === 'done'),
    'every page was read for entities',
  );
  for (const features of await statuses())
    assert.deepEqual(features, { entities: { status: 'done', last_error: null } });
}

/** Words of a topic, the same for the same page. */
function textOf(topic: string, page: number): string {
  const words = topics[topic];
  return Array.from(
    { length: 30 },
    (_, i) => words[(page * 7 + i * (1 + (page % 3)) + ((i * i) % 4)) % words.length],
  ).join(' ');
}

/** Page id → topic, of all pages that are about one. */
const topicOf = new Map<string, string>();
/** Topic → the cluster found for it. */
const clusterOf = new Map<string, string>();

test('before there are topics the lists are empty, ids are unknown, and a run is not accepted', async () => {
  assert.deepEqual(await clusters(), []);
  assert.deepEqual(await runs(), []);
  assert.deepEqual(await merges(), []);
  assert.deepEqual((await post('/v1/clusters/recompute')).body, {
    accepted: false,
    detail: `0 pages have vectors; clustering needs ${minPages}`,
  });
  await add([{ url: 'https://lonely.example/', body_extracted: 'All alone.' }]);
  const refused = await post<RecomputeResponse>('/v1/clusters/recompute', {});
  assert.deepEqual(
    [refused.status, refused.body],
    [202, { accepted: false, detail: `1 pages have vectors; clustering needs ${minPages}` }],
  );
  assert.deepEqual([await runs(), await jobsOf('cluster')], [[], []]);

  for (const path of [
    'clusters/cl_00000001',
    'clusters/nonsense',
    'clusters/%00',
    'clusters/projection?run_id=cr_00000001',
  ]) {
    const { status, body } = await get<{ detail: string }>(`/v1/${path}`);
    assert.deepEqual([status, Object.keys(body), typeof body.detail], [404, ['detail'], 'string'], path);
  }
  for (const path of ['/runs?limit=1.5', '/projection', '/projection?run_id=']) {
    const { status, body } = await get<{ detail: { loc: unknown[]; msg: string; type: string }[] }>(
      `/v1/clusters${path}`,
    );
    assert.equal(status, 422, path);
    assert.deepEqual(Object.keys(body.detail[0]).slice(0, 3).sort(), ['loc', 'msg', 'type'], path);
  }
  assert.deepEqual(await runs('?limit=1000'), []);
});

test('a run is a job, one at a time; it finds the topics, with every field', async () => {
  const given = Object.keys(topics).flatMap((topic) =>
    Array.from({ length: perTopic }, (_, i) => ({
      topic,
      url: `https://${topic}.example/${i}`,
      title: `${topic} ${i}`,
      body_extracted: textOf(topic, i),
    })),
  );
  const ids = await add(given.map(({ topic: _topic, ...page }) => page));
  for (const [i, id] of ids.entries()) topicOf.set(id, given[i].topic);

  const asked = Date.now();
  // At once, over connections that are open, so that the run of one is not over when the other comes.
  await Promise.all([runs(), runs()]);
  const both = await Promise.all([1, 2].map(() => post<RecomputeResponse>('/v1/clusters/recompute')));
  const [first, second] = both.sort((a, b) => a.status - b.status);
  assert.deepEqual([first.status, first.body], [202, { accepted: true, detail: null }]);
  assert.deepEqual([second.status, second.body], [409, { detail: 'a run is in progress' }]);
  const [begun] = await runs();
  const map = await get(`/v1/clusters/projection?run_id=${begun.id}`);
  const early = await clusters();
  const [still] = await runs();
  if (still.finished_at === null) {
    assert.deepEqual([still.duration_ms, still.n_pages, still.n_clusters, still.n_noise], [null, null, null, null]);
    assert.deepEqual([map.status, early], [404, []], 'nothing of an unfinished run is seen');
  }
  const run = await runOver();
  const { params, ...told } = run;
  assert.deepEqual(told, {
    id: begun.id,
    trigger: 'manual',
    algorithm: 'leiden',
    started_at: begun.started_at,
    finished_at: run.finished_at,
    duration_ms: Date.parse(run.finished_at ?? '') - Date.parse(run.started_at),
    n_pages: ids.length + 1,
    n_clusters: 3,
    n_noise: run.n_noise,
  });
  assert.match(run.id, /^cr_/);
  assert.ok(isInstant(run.started_at) && Date.parse(run.started_at) >= asked - 1000);
  assert.deepEqual([params.resolution, params.min_pages, params.pooling], [1, minPages, 'mean']);
  const [job] = await jobsOf('cluster');
  assert.deepEqual([job.kind, job.status, job.attempts, job.last_error], ['cluster', 'done', 1, null]);
});

test('topics are listed by size, and a topic has its pages, the surest first', async () => {
  const list = await clusters();
  assert.equal(list.length, 3);
  const inTopics = new Set<string>();
  for (const [at, cluster] of list.entries()) {
    const { id, keywords, label, size, tombstoned, projection_x: x, projection_y: y } = cluster;
    assert.match(id, /^cl_/);
    assert.deepEqual(
      Object.keys(cluster).sort(),
      'id keywords label projection_x projection_y size tombstoned'.split(' '),
    );
    assert.equal(tombstoned, false);
    assert.ok(Number.isFinite(x) && Number.isFinite(y));
    assert.ok(size <= (list[at - 1]?.size ?? Number.POSITIVE_INFINITY));
    assert.ok(keywords.length > 1 && keywords.length <= 10);
    assert.ok(label?.toLowerCase().startsWith(keywords[0].toLowerCase()), `${label}: ${keywords}`);
    const { cluster: same, pages } = await clusterPages(id);
    assert.deepEqual(same, cluster);
    assert.equal(pages.length, size);
    const topic = topicOf.get(pages[0].page_id) ?? 'none';
    assert.ok(
      keywords[0].split(' ').every((word) => [topic, ...topics[topic]].includes(word)),
      keywords[0],
    );
    clusterOf.set(topic, id);
    for (const [i, page] of pages.entries()) {
      assert.deepEqual(Object.keys(page), ['page_id', 'canonical_url', 'title', 'probability']);
      assert.equal(topicOf.get(page.page_id), topic);
      assert.match(page.canonical_url, new RegExp(`^https://${topic}\\.example/\\d+$`));
      assert.match(page.title ?? '', new RegExp(`^${topic} \\d+$`));
      assert.ok(page.probability !== null && page.probability > 0 && page.probability <= 1);
      assert.ok(page.probability <= (pages[i - 1]?.probability ?? 1));
      inTopics.add(page.page_id);
    }
  }
  assert.equal(clusterOf.size, 3);
  const [{ id: run_id, n_noise, n_pages }] = await runs();
  assert.equal(inTopics.size, (n_pages ?? 0) - (n_noise ?? 0));
  assert.deepEqual(await clusters('?include_tombstoned=true'), list);

  const map = await found<ClusterProjectionResponse>(`/v1/clusters/projection?run_id=${run_id}`);
  assert.deepEqual(Object.keys(map), ['run_id', 'points']);
  assert.equal(map.run_id, run_id);
  assert.equal(new Set(map.points.map(({ page_id }) => page_id)).size, n_pages);
  for (const { page_id, x, y, cluster_id } of map.points) {
    assert.ok(Number.isFinite(x) && Number.isFinite(y));
    assert.equal(cluster_id, inTopics.has(page_id) ? clusterOf.get(topicOf.get(page_id) ?? '') : null);
  }
});

test('results tell their topic, the filter keeps to one, and an unknown one has no pages', async () => {
  const birds = clusterOf.get('birds') ?? '';
  const { cluster } = await clusterPages(birds);
  const plain = await search({ query: 'heron river', k: 3 });
  assert.deepEqual(plain.results[0].cluster, { id: birds, label: cluster.label });
  const lonely = (await search({ query: 'alone' })).results[0];
  assert.deepEqual([lonely.canonical_url, lonely.cluster], ['https://lonely.example/', null]);

  const filtered = await search({
    query: 'heron pond king bishop',
    k: 100,
    filters: { cluster_id: birds, entity: null },
  });
  assert.ok(filtered.results.length > 0);
  assert.ok(filtered.results.every((result) => result.cluster?.id === birds));
  const { facets } = await search({ query: 'heron', facets: true, filters: { cluster_id: birds } });
  assert.deepEqual(facets?.topic, [{ value: birds, label: cluster.label, count: facets?.total }]);
  for (const cluster_id of ['cl_zzzzzzzz', 'nonsense', '']) {
    const none = await search({ query: 'heron', filters: { cluster_id } });
    assert.deepEqual([none.results, none.suggestions, none.has_more], [[], [], false]);
  }
  for (const filters of [{ cluster_id: 5 }, { entity: 5 }, { cluster: birds }]) {
    assert.equal((await post('/v1/search', { query: 'heron', filters })).status, 422, JSON.stringify(filters));
  }
  const batch = await post<SearchBatchResponse>('/v1/search/batch', {
    queries: ['heron', 'knight'],
    filters: { cluster_id: 'cl_zzzzzzzz' },
  });
  assert.deepEqual(
    batch.body.results.map((item) => [item.outcome, item.outcome === 'ok' && item.results.length]),
    [
      ['ok', 0],
      ['ok', 0],
    ],
  );
});

test('the mediation cluster suggests and compares within the topic', async () => {
  const birds = clusterOf.get('birds') ?? '';
  const { cluster } = await clusterPages(birds);
  const reply = await search({ query: 'heron egret', k: 2, candidates: 10, suggest: 4, mediation: 'cluster' });
  assert.ok(reply.suggestions.length > 0 && reply.suggestions.length <= 4);
  for (const suggestion of reply.suggestions) {
    assert.deepEqual(Object.keys(suggestion), ['page_id', 'title', 'reason']);
    assert.equal(topicOf.get(suggestion.page_id), 'birds');
    assert.equal(suggestion.reason, `on the same topic: “${cluster.label}”`);
    assert.ok(!idsOf(reply).includes(suggestion.page_id));
  }
  assert.deepEqual((await search({ query: 'heron', suggest: 0, mediation: 'cluster' })).suggestions, []);
  const [page] = [...topicOf].filter(([, topic]) => topic === 'birds').map(([id]) => id);
  const near = await similarTo(page, '?mediation=cluster');
  assert.deepEqual([near.page_id, near.mediation, near.results.length], [page, 'cluster', 10]);
  for (const [i, result] of near.results.entries()) {
    const ofContract = ['page_id', 'canonical_url', 'title', 'score', 'reason'];
    assert.deepEqual(
      Object.keys(result).filter((key) => ofContract.includes(key)),
      ofContract,
    );
    assert.equal(topicOf.get(result.page_id), 'birds');
    assert.ok(result.score <= (near.results[i - 1]?.score ?? Number.POSITIVE_INFINITY));
    assert.match(result.reason, /^on the same topic: “.*”; .* in content$/);
    assert.notEqual(result.page_id, page);
  }
  const byVector = await similarTo(page, '?k=3');
  assert.deepEqual([byVector.mediation, byVector.results.length], ['vector', 3]);
  assert.match(byVector.results[0].reason, /in content$/);
  for (const mediation of ['vector', 'cluster', 'entity']) {
    assert.equal((await get(`/v1/pages/pg_zzzzzzzz/similar?mediation=${mediation}`)).status, 404);
    assert.equal((await similarTo(page, `?mediation=${mediation}&k=50`)).mediation, mediation);
  }
});

const news = {
  summit: 'Angela Merkel met Canadian officials in Ottawa. Merkel praised Zorblaxium Corporation for its work in Oslo.',
  factory: 'The company Zorblaxium Corporation opened a factory in Bergen. Nobody asked anybody about it.',
  stadium: 'The coach Max Merkel played in Bergen. Merkel won, Merkel lost, and then Merkel left for Ottawa.',
};
const newsIds = new Map<string, string>();

/** Two spellings of one name each, more than the new names after which names are compared. */
const variants: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  place: [
    ['Aix-en-Provence', 'Aix en Provence'],
    ['Baden-Baden', 'Baden Baden'],
    ['Port-au-Prince', 'Port au Prince'],
    ['Guinea-Bissau', 'Guinea Bissau'],
    ['Timor-Leste', 'Timor Leste'],
    ['Saint-Tropez', 'Saint Tropez'],
    ['St. Petersburg', 'Saint Petersburg'],
    ['Mount Kilimanjaro', 'Mt. Kilimanjaro'],
    ['Alsace-Lorraine', 'Alsace Lorraine'],
    ['Wilkes-Barre', 'Wilkes Barre'],
    ['Schleswig-Holstein', 'Schleswig Holstein'],
  ],
  person: [
    ['Jean-Paul Sartre', 'Jean Paul Sartre'],
    ['Claude Lévi-Strauss', 'Claude Lévi Strauss'],
    ['Jean-Jacques Rousseau', 'Jean Jacques Rousseau'],
    ['Helena Bonham-Carter', 'Helena Bonham Carter'],
    ['Tim Berners-Lee', 'Tim Berners Lee'],
    ['Henri Cartier-Bresson', 'Henri Cartier Bresson'],
    ['Jean-Luc Godard', 'Jean Luc Godard'],
    ['Karl-Heinz Rummenigge', 'Karl Heinz Rummenigge'],
    ['Pierre-Auguste Renoir', 'Pierre Auguste Renoir'],
    ['Andrew Lloyd-Webber', 'Andrew Lloyd Webber'],
    ['Jean-Claude Juncker', 'Jean Claude Juncker'],
    ['Annegret Kramp-Karrenbauer', 'Annegret Kramp Karrenbauer'],
    ['Jean-Baptiste Lamarck', 'Jean Baptiste Lamarck'],
  ],
  organization: [
    ['International Monetary Fund', 'IMF'],
    ['Federal Bureau of Investigation', 'FBI'],
    ['World Trade Organization', 'WTO'],
    ['World Health Organization', 'World Health Organisation'],
    ['Ford Motor Company', 'Ford Motor Co.'],
  ],
};
/** Each has the first spelling twice. */
const sentences: Readonly<Record<string, (one: string, other: string) => string>> = {
  place: (one, other) =>
    `We lived in ${one} for a year. The mayor of ${other} met us there, and later we left ${one} by train.`,
  person: (one, other) => `${one} was born in winter. A friend wrote to ${other} every week, and ${one} wrote back.`,
  organization: (one, other) =>
    `The ${one} has its offices in the city. Its director said that the ${other} had no money, and the ${one} dismissed him.`,
};

test('a page is read for entities after it is indexed; before, it has none', async () => {
  const { body: unreadable } = await post<{ page_id: string }>('/v1/pages', { url: 'http://127.0.0.1:9/unreachable' });
  assert.deepEqual(await shared.service.settled([unreadable.page_id]), ['dead']);
  const status = await found<PageStatusResponse>(`/v1/pages/${unreadable.page_id}/status`);
  assert.deepEqual(status.features, { entities: { status: 'not_queued', last_error: null } });
  const none = { page_id: unreadable.page_id, entities: [] };
  assert.deepEqual(await found<PageEntitiesResponse>(`/v1/pages/${unreadable.page_id}/entities`), none);
  for (const mediation of ['vector', 'cluster', 'entity']) {
    assert.deepEqual((await similarTo(unreadable.page_id, `?mediation=${mediation}`)).results, []);
  }
  assert.equal((await get('/v1/pages/pg_zzzzzzzz/entities')).status, 404);

  const ids = await add(
    Object.entries(news).map(([name, body_extracted]) => ({
      url: `https://news.example/${name}`,
      title: name,
      body_extracted,
    })),
  );
  for (const [i, name] of Object.keys(news).entries()) newsIds.set(name, ids[i]);
  await readForEntities(ids);
  const jobs = await jobsOf('extract_entities');
  assert.equal(jobs.length, 1 + topicOf.size + ids.length, 'one for each indexed page');
  const page_id = ids[0];
  const read = await found<PageEntitiesResponse>(`/v1/pages/${page_id}/entities`);
  assert.equal(read.page_id, page_id);
  for (const each of read.entities) {
    assert.deepEqual(Object.keys(each), ['id', 'canonical_form', 'type', 'mention_count', 'page_count', 'idf']);
    assert.match(each.id, /^en_/);
    assert.ok(each.idf !== null && each.idf > 0);
  }
  assert.deepEqual(
    read.entities.map((each) => [each.canonical_form, each.type, each.mention_count, each.page_count]),
    [
      ['Angela Merkel', 'person', 2, 1],
      ['Canadian', 'other', 1, 1],
      ['Ottawa', 'place', 2, 2],
      ['Zorblaxium Corporation', 'organization', 2, 2],
      ['Oslo', 'place', 1, 1],
    ],
  );
});

test('an entity is found by id, name and alias in any case; an ambiguous alias goes to the most mentioned', async () => {
  const merkel = await entity('Angela Merkel');
  assert.deepEqual(merkel, { entity: merkel.entity, aliases: ['Merkel'], page_ids: [newsIds.get('summit')] });
  for (const ref of [merkel.entity.id, 'angela merkel', 'ANGELA  MERKEL'])
    assert.deepEqual(await entity(ref), merkel, ref);
  const ambiguous = await entity('merkel');
  assert.deepEqual([ambiguous.entity.canonical_form, ambiguous.entity.mention_count], ['Max Merkel', 4]);
  assert.deepEqual(
    new Set((await entity('Ottawa')).page_ids),
    new Set([newsIds.get('summit'), newsIds.get('stadium')]),
  );
  for (const ref of ['Trondheim', 'en_zzzzzzzz', 'a%2Fb', '%00', '%F0%9F%90%A6', 'x'.repeat(1001), 'x'.repeat(3000)]) {
    assert.equal((await get(`/v1/entities/${ref}`)).status, 404, ref);
  }
});

test('the entity filter keeps to its pages; an unknown one is 404, in a batch an item that says so', async () => {
  const pagesFor = async (filters: object) =>
    new Set(idsOf(await search({ query: 'Merkel factory officials coach', k: 50, filters })));
  const [summit, factory, stadium] = ['summit', 'factory', 'stadium'].map((name) => newsIds.get(name));
  assert.deepEqual(await pagesFor({ entity: 'BERGEN' }), new Set([factory, stadium]));
  const { entity: angela } = await entity('Angela Merkel');
  assert.deepEqual(await pagesFor({ entity: angela.id }), new Set([summit]));
  const { facets } = await search({
    query: 'after:2000',
    operators: true,
    facets: true,
    filters: { entity: 'bergen' },
  });
  assert.equal(facets?.name.find(({ label }) => label === 'Bergen')?.count, 2);
  assert.deepEqual(await pagesFor({ entity: 'Merkel' }), new Set([stadium]));
  assert.deepEqual(await pagesFor({ entity: 'Bergen', cluster_id: clusterOf.get('birds') }), new Set());
  for (const unknown of ['Trondheim', '']) {
    const { status, body } = await post('/v1/search', { query: 'x', filters: { entity: unknown } });
    assert.deepEqual([status, body], [404, { detail: `no entity is known as ${JSON.stringify(unknown)}` }]);
  }
  const { status, body } = await post<SearchBatchResponse>('/v1/search/batch', {
    queries: ['bread', 'heron'],
    filters: { entity: 'Trondheim' },
  });
  assert.equal(status, 200);
  assert.deepEqual(
    body.results,
    ['bread', 'heron'].map((query, index) => ({
      index,
      query,
      outcome: 'error',
      error: 'feature_unavailable',
      detail: 'no entity is known as "Trondheim"',
    })),
  );
});

test('the mediation entity suggests and compares by what is mentioned', async () => {
  const [summit, factory, stadium] = ['summit', 'factory', 'stadium'].map((name) => newsIds.get(name) ?? '');
  const near = await similarTo(factory, '?mediation=entity');
  assert.deepEqual(
    near.results.map(({ page_id, reason, title, canonical_url }) => [page_id, reason, title, canonical_url]).sort(),
    [
      [summit, 'both mention Zorblaxium Corporation', 'summit', 'https://news.example/summit'],
      [stadium, 'both mention Bergen', 'stadium', 'https://news.example/stadium'],
    ].sort(),
  );
  assert.ok(near.results.every(({ score }) => score > 0 && score <= 1));
  assert.equal((await similarTo(factory, '?mediation=entity&k=1')).results.length, 1);
  const reply = await search({
    query: 'company opened factory',
    k: 1,
    candidates: 1,
    suggest: 10,
    mediation: 'entity',
  });
  assert.deepEqual(idsOf(reply), [factory]);
  assert.deepEqual(new Set(reply.suggestions.map(({ page_id }) => page_id)), new Set([summit, stadium]));
  for (const { reason } of reply.suggestions) assert.match(reason, /^mentions .*, as the first results do$/);
});

test('variants are merged, references survive, and merges are undone last in, first out, or split in any order', async () => {
  const names = Object.entries(variants).flatMap(([type, pairs]) =>
    pairs.map(([one, other]) => ({ type, one, other, text: sentences[type](one, other) })),
  );
  const text = names.map((name) => name.text).join('\n\n');
  const [page] = await add([{ url: 'https://variants.example/', body_extracted: text }]);
  // The names of the pages before may have been compared in a job of their own.
  await until(async () => (await merges()).length >= names.length, 'names were compared');
  const list = await merges();
  assert.deepEqual(
    new Set(list.map(({ type, kept_form, merged_form }) => `${type}: ${kept_form} < ${merged_form}`)),
    new Set(names.map(({ type, one, other }) => `${type}: ${one} < ${other}`)),
    'the less mentioned one goes into the other',
  );
  for (const [i, merge] of list.entries()) {
    assert.deepEqual(
      Object.keys(merge).sort(),
      'kept_entity_id kept_form made_by merge_id merged_at merged_entity_id merged_form type undone_at'.split(' '),
    );
    assert.match(merge.merge_id, /^em_/);
    const { undone_at, made_by, merged_at } = merge;
    assert.deepEqual([undone_at, made_by, isInstant(merged_at)], [null, 'automatic', true]);
    assert.ok(i === 0 || merge.merge_id < list[i - 1].merge_id, 'newest first');
  }
  const [latest, earlier] = list;
  const merged = await entity(latest.kept_form);
  assert.deepEqual(
    [merged.entity.id, merged.entity.mention_count, merged.entity.page_count, merged.aliases, merged.page_ids],
    [latest.kept_entity_id, 3, 1, [latest.merged_form], [page]],
  );
  for (const ref of [latest.merged_entity_id, latest.merged_form.toUpperCase()])
    assert.deepEqual(await entity(ref), merged);

  const undo = (id: string) => post<UndoMergeResponse & { detail?: string }>(`/v1/entities/merges/${id}/undo`);
  for (const unknown of ['em_zzzzzzzz', 'en_00000001', 'nonsense', '%00'])
    assert.equal((await undo(unknown)).status, 404, unknown);
  const early = await undo(earlier.merge_id);
  assert.deepEqual([early.status, typeof early.body.detail], [409, 'string']);
  assert.deepEqual(await merges(), list, 'nothing has changed');
  const undone = await undo(latest.merge_id);
  assert.deepEqual([undone.status, undone.body], [200, { restored_entity_id: latest.merged_entity_id }]);
  const restored = await entity(latest.merged_entity_id);
  assert.deepEqual(
    [
      restored.entity.id,
      restored.entity.canonical_form,
      restored.entity.mention_count,
      restored.aliases,
      restored.page_ids,
    ],
    [latest.merged_entity_id, latest.merged_form, 1, [], [page]],
  );
  const kept = await entity(latest.kept_form);
  assert.deepEqual([kept.entity.mention_count, kept.aliases], [2, []]);
  assert.equal((await undo(latest.merge_id)).status, 409, 'a second time');
  assert.equal((await undo(earlier.merge_id)).status, 200, 'it is the latest now');
  const split = (id: string) => post<UndoMergeResponse & { detail?: string }>(`/v1/entities/merges/${id}/split`);
  const oldest = list[list.length - 1];
  const answer = await split(oldest.merge_id);
  assert.deepEqual([answer.status, answer.body], [200, { restored_entity_id: oldest.merged_entity_id }]);
  assert.deepEqual((await entity(oldest.merged_entity_id)).aliases, []);
  for (const gone of [oldest, latest]) assert.equal((await split(gone.merge_id)).status, 409, 'split or undone before');
  assert.equal((await split('em_zzzzzzzz')).status, 404);
  const after = await merges();
  assert.deepEqual(
    after.map(({ undone_at }) => undone_at !== null && isInstant(undone_at)),
    after.map((_, i) => i < 2 || i === after.length - 1),
  );
  const { merge_id, kept_form, merged_form } = after[2];
  for (const ref of [kept_form, merged_form]) {
    const { merges } = await found<EntityMergeListResponse>(
      `/v1/admin/entity-merges?entity=${encodeURIComponent(ref)}`,
    );
    assert.deepEqual(
      merges.map((merge) => merge.merge_id),
      [merge_id],
    );
  }
  assert.equal((await get('/v1/admin/entity-merges?entity=Trondheim')).status, 404);
});

test('two names are taken for one by hand, and that is undone like any other merge', async () => {
  const merge = (ref: string, body: object) =>
    post<EntityMergeResponse & { detail?: string }>(`/v1/entities/${encodeURIComponent(ref)}/merge`, body);
  const list = await merges();
  const standing = list.filter(({ undone_at }) => undone_at === null);
  const [{ type, kept_form: one }] = standing;
  const other = standing.find((each) => each.kept_form !== one && each.type === type)?.kept_form ?? '';
  const ofOtherType = standing.find((each) => each.type !== type)?.kept_form ?? '';
  const [undone] = list;
  const before = await entity(one);
  const again = await merge(undone.kept_form, { with: undone.merged_form });
  assert.deepEqual([again.status, typeof again.body.detail], [409, 'string'], 'they stay two');
  assert.equal((await merge(one, { with: one })).status, 409, 'one already');
  assert.equal((await merge(one, { with: ofOtherType })).status, 409, 'of two types');
  assert.equal((await merge(one, { with: 'Nobody Whatsoever' })).status, 404);
  assert.equal((await merge('Nobody Whatsoever', { with: one })).status, 404);
  assert.equal((await merge(one, {})).status, 422);
  assert.deepEqual(await merges(), list, 'nothing has changed');
  const made = await merge(one, { with: other });
  assert.deepEqual([made.status, made.body, made.body.made_by], [200, (await merges())[0], 'user']);
  const both = await entity(one);
  assert.deepEqual(await entity(other), both);
  assert.equal(both.entity.mention_count, before.entity.mention_count + 3);
  assert.equal((await merge(other, { with: one })).status, 409, 'one already');
  assert.equal((await post(`/v1/entities/merges/${made.body.merge_id}/undo`)).status, 200);
  const { idf: _, ...counts } = (await entity(one)).entity;
  assert.deepEqual({ ...counts, idf: before.entity.idf }, before.entity);
});

test('a language model names the topics where one is set; its key is shown to nobody', async (t) => {
  const asked: { authorization: string | undefined; model: unknown }[] = [];
  const namer = await Site.open(t, {
    '*': async (request, response) => {
      const { model } = (await json(request)) as { model: unknown };
      asked.push({ authorization: request.headers.authorization, model });
      const content = `Label ${asked.length}`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
    },
  });
  const before = await clusters();
  await shared.service.stop();
  const key = 'chat-key-77c1';
  await shared.service.start({
    SERVICE_LLM__BASE_URL: namer.url('/v1'),
    SERVICE_LLM__API_KEY: key,
    SERVICE_LLM__MODEL: 'namer',
  });
  const config = JSON.stringify((await get('/v1/admin/config')).body);
  assert.ok(!config.includes(key) && config.includes('namer'));
  assert.deepEqual((await post('/v1/clusters/recompute')).status, 202);
  const run = await runOver();
  assert.deepEqual([(await runs()).length, (await runs('?limit=1'))[0].id], [2, run.id]);
  await until(async () => (await clusters()).every(({ label }) => /^Label \d$/.test(label ?? '')), 'all are named');
  const [job] = await jobsOf('label_clusters');
  assert.equal(job.kind, 'label_clusters');
  assert.deepEqual(new Set((await clusters()).map(({ id }) => id)), new Set(before.map(({ id }) => id)), 'ids stay');
  assert.deepEqual(
    new Set(asked.map((each) => JSON.stringify(each))),
    new Set([JSON.stringify({ authorization: `Bearer ${key}`, model: 'namer' })]),
  );
});

test('forgetting takes pages out of topics and entities; a topic without pages is a tombstone', async () => {
  const birds = clusterOf.get('birds') ?? '';
  const [page] = (await clusterPages(birds)).pages;
  const [{ id: run_id }] = await runs();
  assert.equal((await post('/v1/forget', { url: page.canonical_url })).status, 200);
  const fewer = await clusterPages(birds);
  assert.equal(fewer.pages.length, fewer.cluster.size);
  assert.ok(!fewer.pages.some(({ page_id }) => page_id === page.page_id));
  for (const { id } of await runs()) {
    const { points } = await found<ClusterProjectionResponse>(`/v1/clusters/projection?run_id=${id}`);
    assert.ok(!points.some(({ page_id }) => page_id === page.page_id), 'of no run');
  }
  assert.equal((await post('/v1/forget', { domain: 'birds.example' })).status, 200);
  const gone = await clusterPages(birds);
  assert.deepEqual(gone, {
    cluster: {
      id: birds,
      label: null,
      keywords: [],
      size: 0,
      tombstoned: true,
      projection_x: null,
      projection_y: null,
    },
    pages: [],
  });
  assert.ok(!(await clusters()).some(({ id }) => id === birds));
  assert.ok(!(await clusters('?include_tombstoned=false')).some(({ id }) => id === birds));
  assert.deepEqual((await clusters('?include_tombstoned=true')).at(-1), gone.cluster);
  assert.deepEqual(idsOf(await search({ query: 'heron', filters: { cluster_id: birds } })), []);
  const { points } = await found<ClusterProjectionResponse>(`/v1/clusters/projection?run_id=${run_id}`);
  assert.ok(points.length > 0 && points.every(({ page_id }) => topicOf.get(page_id) !== 'birds'));

  assert.equal((await post('/v1/forget', { url: 'https://news.example/summit' })).status, 200);
  assert.equal((await get('/v1/entities/Angela%20Merkel')).status, 404);
  assert.equal((await get(`/v1/pages/${newsIds.get('summit')}/entities`)).status, 404);
  assert.equal((await post('/v1/search', { query: 'x', filters: { entity: 'Oslo' } })).status, 404);
  assert.deepEqual((await entity('Ottawa')).page_ids, [newsIds.get('stadium')]);
  assert.deepEqual(
    (await similarTo(newsIds.get('factory') ?? '', '?mediation=entity')).results.map(({ reason }) => reason),
    ['both mention Bergen'],
  );
});

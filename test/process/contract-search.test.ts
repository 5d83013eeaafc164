/** Contract section: Search. Passages, filters, exact matches, what is found when, bounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageChunksResponse, PageResponse, PageStatusResponse } from '../../src/domain/page.ts';
import { until } from './service.ts';
import { idsOf, sharedService } from './shared-service.ts';

/** One attempt, so that a page which cannot be fetched is dead at once. */
const shared = sharedService({ SERVICE_JOBS__MAX_ATTEMPTS: '1' });

test('a search answers with passages that were read, best page first, and no page twice', async () => {
  const base = 'https://whales.example/';
  const text = 'Grey whales travel from the lagoons of Baja California to the Arctic every spring.';
  const ids = [];
  for (let no = 0; no < 5; no++) {
    ids.push(
      await shared.addPage({ url: base + no, title: `Whales ${no}`, body_extracted: `${text} `.repeat(40 * (no + 1)) }),
    );
  }
  await shared.service.settled(ids);
  const found = await shared.search({
    query: 'grey whales lagoons',
    chunks_per_page: 2,
    filters: { domain: 'whales.example' },
  });
  assert.match(found.query_id, /\S/);
  assert.deepEqual([...idsOf(found)].sort(), [...ids].sort());
  assert.deepEqual([found.offset, found.has_more], [0, false]);
  assert.ok(Array.isArray(found.suggestions));
  assert.ok(Object.values(found.timing_ms).every((ms) => typeof ms === 'number'));
  const scores = found.results.map(({ score }) => score);
  assert.deepEqual(
    scores,
    [...scores].sort((x, y) => y - x),
  );
  for (const result of found.results) {
    const { body: page } = await shared.get<PageResponse>(`/v1/pages/${result.page_id}`);
    const { chunks } = (await shared.get<PageChunksResponse>(`/v1/pages/${result.page_id}/chunks`)).body;
    assert.deepEqual(
      [result.canonical_url, result.title, result.domain, result.first_seen_at, result.visit_count, result.cluster],
      [page.canonical_url, page.title, page.domain, page.first_seen_at, page.visit_count, null],
    );
    assert.ok(result.chunks.length >= 1 && result.chunks.length <= 2);
    for (const { chunk_id, ordinal, text: passage } of result.chunks) {
      assert.deepEqual([chunk_id, passage], [chunks[ordinal].chunk_id, chunks[ordinal].text]);
    }
  }
  const none = await shared.search({
    query: 'grey whales lagoons',
    chunks_per_page: 0,
    filters: { domain: 'whales.example' },
  });
  assert.deepEqual(idsOf(none), idsOf(found));
  assert.ok(none.results.every(({ chunks }) => chunks.length === 0));
  const pages: string[] = [];
  for (let offset = 0; offset < 5; offset += 2) {
    const page = await shared.search({
      query: 'grey whales lagoons',
      k: 2,
      offset,
      filters: { domain: 'whales.example' },
    });
    assert.deepEqual([page.offset, page.has_more], [offset, offset + 2 < 5]);
    pages.push(...idsOf(page));
  }
  assert.deepEqual(pages, idsOf(found));
  const past = await shared.search({ query: 'grey whales lagoons', offset: 5000 });
  assert.deepEqual([past.results, past.has_more, past.offset], [[], false, 5000]);
});

test('a search for words that nobody knows finds nothing', async () => {
  for (const query of ['xqzzyvkw', 'qqqqxxzz wwkkpptt', '???', '   ', '🜁']) {
    const { results, has_more, suggestions } = await shared.search({ query });
    assert.deepEqual({ results, has_more, suggestions }, { results: [], has_more: false, suggestions: [] }, query);
  }
});

test('filters keep to a domain with its subdomains, and to the time of the visits', async () => {
  const body_extracted = 'The quarry workers of the slate valley kept bees.';
  const page = async (url: string, fetched_at: string) => shared.addIndexed({ url, body_extracted, fetched_at });
  const old = await page('https://slate.example/old', '2020-01-01T00:00:00Z');
  const young = await page('https://www.slate.example/young', '2022-01-01T00:00:00Z');
  const other = await page('https://notslate.example/other', '2021-01-01T00:00:00Z');
  await shared.post('/v1/pages', { url: 'https://slate.example/old', fetched_at: '2023-01-01T00:00:00Z' });
  const found = async (filters: Record<string, unknown>) =>
    idsOf(await shared.search({ query: 'slate quarry bees', filters }))
      .filter((id) => [old, young, other].includes(id))
      .sort();
  assert.deepEqual(await found({ domain: 'slate.example' }), [old, young].sort());
  assert.deepEqual(await found({ domain: 'WWW.slate.example' }), [young]);
  assert.deepEqual(await found({ domain: 'late.example' }), []);
  assert.deepEqual(await found({ after: '2022-06-01T00:00:00Z' }), [old], 'the last visit');
  assert.deepEqual(await found({ before: '2021-01-01T00:00:00Z' }), [old], 'the first visit; the end is not in it');
  assert.deepEqual(
    await found({ after: '2021-06-01T00:00:00Z', before: '2022-06-01T00:00:00Z' }),
    [young],
    'a visit in between',
  );
  assert.deepEqual(await found({ before: '2021-01-01T01:00:00+01:00', after: '2020-01-01T00:00:00Z' }), [old]);
  assert.deepEqual(
    await found({ domain: null, after: null, before: null, cluster_id: null, entity: null }),
    [old, young, other].sort(),
  );
  assert.deepEqual(await found({ cluster_id: 'unknown' }), []);
  assert.equal((await shared.post('/v1/search', { query: 'slate', filters: { entity: 'Nobody' } })).status, 404);
  assert.equal((await shared.post('/v1/search', { query: 'slate', filters: { after: '2022-06-01' } })).status, 422);
  assert.equal((await shared.post('/v1/search', { query: 'slate', filters: { colour: 'grey' } })).status, 422);
});

test('the title, the address and a quoted phrase are exact matches, and the first two come first', async () => {
  const exact = await shared.addIndexed({
    url: 'https://exact.example/ferns',
    title: 'On Ferns  and Their Spores',
    body_extracted: 'Nothing here names the plant, but the small print says: dust upon the leaf.',
  });
  for (let no = 0; no < 3; no++) {
    await shared.addIndexed({
      url: `https://exact.example/${no}`,
      title: `Ferns ${no}`,
      body_extracted: `${'On ferns and their spores, again: ferns, ferns and spores. '.repeat(5)} ${no}`,
    });
  }
  for (const query of [
    'on ferns and THEIR spores',
    '"On Ferns and Their Spores"',
    'https://exact.example/ferns?utm_source=x',
  ]) {
    for (const rerank of [true, false]) {
      const { results } = await shared.search({ query, rerank });
      assert.deepEqual([results[0].page_id, results[0].exact_match], [exact, true], query);
    }
  }
  const { results } = await shared.search({ query: 'plant "Dust upon  the leaf"' });
  assert.equal(results.find(({ page_id }) => page_id === exact)?.exact_match, true);
  assert.ok((await shared.search({ query: 'ferns spores' })).results.every(({ exact_match }) => !exact_match));
});

test('a page can be searched by the time its status says indexed', async () => {
  for (let no = 0; no < 10; no++) {
    const word = `bdg${'bcdfghjklm'[no]}qx`;
    const id = await shared.addPage({
      url: `https://prompt.example/${no}`,
      body_extracted: `The secret word is ${word}.`,
    });
    await until(
      async () => (await shared.get<PageStatusResponse>(`/v1/pages/${id}/status`)).body.status === 'indexed',
      'indexed',
    );
    assert.equal(idsOf(await shared.search({ query: word }))[0], id);
    // By words alone, as when one types: others are merely near to it.
    assert.deepEqual(idsOf(await shared.search({ query: word, prefix: true })), [id]);
  }
});

test('the widest search is answered in every order and mediation', async () => {
  const widest = {
    query: 'whale '.repeat(666),
    k: 100,
    candidates: 1000,
    chunks_per_page: 10,
    rollup_m: 20,
    suggest: 10,
  };
  for (const rollup of ['max', 'mean_top_m', 'sum_rrf']) {
    for (const mediation of ['vector', 'cluster', 'entity']) await shared.search({ ...widest, rollup, mediation });
  }
});

/** A year of a person's visits: filters by date find the pages visited then and no others, and calendars count each visit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageLister } from '../../src/actors/system/list-pages.ts';
import { seededRandom } from '../../src/compute/seeded-random.ts';
import { withVisit } from '../../src/compute/structures/visit-times.ts';
import { dayMs } from '../../src/domain/durations.ts';
import type { Page } from '../../src/domain/page.ts';
import { isoOf, numberOf } from '../../src/domain/values.ts';
import { pageRow } from '../machines/rows.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { WholeSystem } from './whole-system.ts';

const [yearStart, days] = [Date.UTC(2025, 0, 1), 365];

/** Times of each page, distinct. */
function yearOf(random: () => number): number[][] {
  return Array.from({ length: 120 }, () => {
    const count = 1 + Math.floor(random() * 40);
    // Some visits come at the very beginning of a day.
    const visit = () => Math.floor(random() * days) * dayMs + (random() < 0.1 ? 0 : Math.floor(random() * dayMs));
    return [...new Set(Array.from({ length: count }, () => yearStart + visit()))];
  });
}

test('pages are found by the day, week and month of any visit, and each visit is in the calendar', async (t) => {
  const random = seededRandom(7);
  const pages = yearOf(random);
  const visits = pages.flatMap((times, no) => times.map((at) => ({ no, at, order: random() })));
  visits.sort((a, b) => a.order - b.order);
  const system = await WholeSystem.start(t);
  const ids = await system.submit(
    visits.map(({ no, at }) => ({
      url: `https://year.example/${no}`,
      body_extracted: `Diary of page number ${no}.`,
      fetched_at: isoOf(at),
    })),
  );
  const idOfPage = new Map(visits.map(({ no }, i) => [no, ids[i]]));
  assert.equal(idOfPage.size, pages.length);
  const page_ids = [...idOfPage.values()].sort();
  await system.settled(page_ids);

  const visitedBetween = (from: number, to: number) =>
    pages.flatMap((times, no) => (times.some((at) => at >= from && at < to) ? [idOfPage.get(no)] : [])).sort();
  const found = async (query: string, filters: { after: string; before: string } | null) => {
    const ids: string[] = [];
    for (let offset = 0, hasMore = true; hasMore; offset += 100) {
      const all = { k: 100, candidates: 1000, chunks_per_page: 0, suggest: 0, min_relevance: 0 };
      const answer = await system.search(query, { ...all, operators: true, offset, log: false, filters });
      ids.push(...answer.results.map(({ page_id }) => page_id));
      hasMore = answer.has_more;
    }
    return ids.sort();
  };
  const months = Array.from({ length: 12 }, (_, month) => [Date.UTC(2025, month, 1), Date.UTC(2025, month + 1, 1)]);
  const year = [yearStart, yearStart + days * dayMs];
  const within = (length: number, starts: readonly number[]) =>
    starts.map((day) => [yearStart + day * dayMs, yearStart + (day + length) * dayMs]);
  const weeks = within(7, [0, 77, 182, 280, 357]);
  const someDays = within(1, [0, 58, 59, 120, 211, 299, 364]);
  for (const [from, to] of [year, ...months, ...weeks, ...someDays]) {
    const [after, before] = [isoOf(from), isoOf(to)];
    const expected = visitedBetween(from, to);
    assert.deepEqual(await found('diary', { after, before }), expected, `${after} to ${before}`);
    assert.deepEqual(await found(`after:${after} before:${before}`, null), expected, `${after} to ${before}`);
  }

  const calendarOf = (times: readonly number[]) => {
    const counts = new Map<number, number>();
    for (const at of times) counts.set(Math.floor(at / dayMs), (counts.get(Math.floor(at / dayMs)) ?? 0) + 1);
    return [...counts].sort(([a], [b]) => a - b);
  };
  const listed = async (from: number, to: number) => {
    const times: number[] = [];
    let cursor: string | undefined;
    do {
      const query = { after: isoOf(from), before: isoOf(to), visits: true, limit: 70, ...(cursor && { cursor }) };
      const answer = await system.ask('page.list', query);
      times.push(...answer.pages.flatMap((page) => (page.visits ?? []).map((at) => Date.parse(at))));
      cursor = answer.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return calendarOf(times);
  };
  for (const [from, to] of [year, ...months]) {
    const inside = visits.map(({ at }) => at).filter((at) => at >= from && at < to);
    assert.deepEqual(await listed(from, to), calendarOf(inside));
  }
  for (const [no, times] of pages.entries()) {
    const { pages: found } = await system.ask('page.list', {
      url: `https://year.example/${no}`,
      visits: true,
      limit: 1,
    });
    const seen = found.map(({ visit_count, visits = [] }) => [visit_count, ...visits.map((at) => Date.parse(at))]);
    assert.deepEqual(seen, [[times.length, ...times.toSorted((a, b) => b - a)]]);
  }
});

test('a part of a list ends early where its pages have very many visits, and all pages are in one part', async () => {
  await using temporary = await TemporaryStore.open();
  const times = Array.from({ length: 8000 }, (_, at) => yearStart + at * dayMs);
  const page = times.reduce<Page>(withVisit, pageRow({ first_seen_at: yearStart, last_seen_at: yearStart }));
  const numbers = Array.from({ length: 20 }, (_, at) => at + 1);
  await temporary.commit((transaction) => {
    for (const no of numbers)
      transaction.pages.put({ ...page, no, canonical_url: `https://often.example/${no}` }, undefined);
  });
  const list = pageLister(temporary.store.reader, { tracking_params: [], keep_params: {} });
  const parts: number[][] = [];
  let cursor: string | undefined;
  do {
    const { pages, next_cursor } = await list({ limit: 50, visits: true, ...(cursor && { cursor }) });
    for (const { visits } of pages) assert.equal(visits?.length, times.length);
    parts.push(pages.map(({ page_id }) => numberOf('page', page_id) ?? 0));
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
  assert.ok(parts.length > 1);
  assert.deepEqual(parts.flat(), numbers.toReversed());
});

/** Pages for the console's tests: a few that are found by words, and some whose every text tries to be more than text. */
import assert from 'node:assert/strict';
import type { IngestBatchResult } from '../../src/domain/page.ts';
import { type RunningService, until } from '../process/service.ts';

export interface Handed {
  url: string;
  title: string;
  body_extracted: string;
  fetched_at: string;
}

const day = (n: number) => new Date(Date.UTC(2026, 0, n, 12)).toISOString();

/** Pages about one thing only would differ by chance, and have no topics. */
const places = [
  ' The mill ground rye and wheat until the war: two pairs of stones, a water wheel of oak, and a hoist for the sacks of flour that bakers of the town fetched at dawn.',
  ' Concerts are given in its yard in summer: a string quartet played Haydn and Bartók, the cellist broke a string in the slow movement, and the audience clapped all the same.',
];

export const plainPages: readonly Handed[] = [
  {
    url: 'https://engines.example/governor',
    title: 'The centrifugal governor',
    body_extracted:
      'A governor keeps an engine from running away. Two balls swing outwards as the engine gets faster, and close the valve that lets steam in.\n\nIt is an early example of feedback: what comes out decides what goes in.',
    fetched_at: day(3),
  },
  {
    url: 'https://engines.example/valve',
    title: 'Valves of steam engines',
    body_extracted:
      'The valve of a steam engine opens and closes twice in a turn. The governor works on the valve by a lever. Slide valves wear, and must be set again.',
    fetched_at: day(40),
  },
  {
    url: 'https://kitchen.example/bread',
    title: 'Bread from a starter',
    body_extracted: 'A sourdough loaf needs flour, water, salt and patience. The starter is fed each day.',
    fetched_at: day(75),
  },
  ...Array.from({ length: 24 }, (_, at) => ({
    url: `https://herons.example/${at}`,
    title: `Heron ${at + 1}`,
    body_extracted: `Herons are wading birds that hunt fish in shallow water. This is sighting number ${at + 1}, by the old mill.${places[at % places.length]}`,
    fetched_at: day(80 + at),
  })),
];

/** Each sets `attacked` if any of it is ever run. */
const attacks = [
  '<script>attacked=1</script>',
  '<img src=x onerror="attacked=1">',
  '"><svg onload=attacked=1>',
  "javascript:attacked=1//' onfocus=attacked=1 autofocus='",
  '{{constructor.constructor("attacked=1")()}}',
  '\u202Egpj.exe\u202C \u2066right\u2069 \u0000null Z\u0351\u036B\u0343a\u0363\u0344l',
];

export const attackingPages: readonly Handed[] = attacks.map((attack, at) => ({
  url: `https://attack-${at}.example/%22%3E%3Cscript%3Eattacked=1%3C/script%3E?${encodeURIComponent(attack)}`,
  title: `${attack} villainy`.replace('\u0000', ''),
  body_extracted: `Villainy ${attack.replace('\u0000', '')} villainy in the passage, said Eve "${attack.replace('\u0000', '')}" Smith of London.`,
  fetched_at: day(120 + at),
}));

const mostInBatch = 100;

/** Hand pages in; gives their ids. */
export async function handIn(service: RunningService, pages: readonly object[]): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < pages.length; at += mostInBatch) {
    const batch = { pages: pages.slice(at, at + mostInBatch) };
    const { body } = await service.call<{ results: IngestBatchResult[] }>('POST', '/v1/pages/batch', batch);
    for (const result of body.results)
      ids.push('page_id' in result ? result.page_id : assert.fail(JSON.stringify(result)));
  }
  return ids;
}

/** Hand pages in, and wait until they are searchable by words and meaning, and their topics found. */
export async function fillLibrary(service: RunningService, pages: readonly object[]): Promise<string[]> {
  const ids = await handIn(service, pages);
  assert.ok((await service.settled(ids)).every((status) => status === 'indexed'));
  await service.call('POST', '/v1/clusters/recompute');
  await until(async () => {
    const answer = await service.call<{ runs: { finished_at: string | null }[] }>('GET', '/v1/clusters/runs');
    return answer.body.runs[0]?.finished_at != null;
  }, 'topics are found');
  return ids;
}

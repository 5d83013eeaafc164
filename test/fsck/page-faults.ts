/** Faults of pages, their texts, chunks and vectors, of jobs, of rules, and of logged searches. */
import { dim } from './made-folder.ts';
import { edit, type Faults } from './tampered-store.ts';

const pattern = 'https://example.com/forgotten';
const rule = { no: 1, kind: 'url', pattern, reason: null, created_at: 0, purging: false } as const;

export const pageFaults: Faults = {
  'a URL that leads nowhere': {
    plant: ({ byUrl }) => byUrl.remove([...byUrl.getKeys()][0]),
    finding: /its URL leads to no page/,
  },
  'a title that leads nowhere': {
    plant: ({ byTitle }) => byTitle.remove([...byTitle.getKeys()][0]),
    finding: /its title does not lead to it/,
  },
  'a job missing from the list of its status': {
    plant: ({ byStatus }) => byStatus.remove(['done', 1]),
    finding: /jobs by status: .* is missing/,
  },
  'a due entry of no job': {
    plant: ({ due }) => due.put(['index', 5, 99], 0),
    finding: /due jobs: .* is of no row/,
  },
  'chunks of no page': { plant: ({ chunks }) => chunks.put(77, []), finding: /chunks of no page: 77/ },
  'a text of no page': { plant: ({ bodies }) => bodies.put(77, 'x'), finding: /text of no page: 77/ },
  'a part of a text of no page': {
    plant: ({ bodyParts }) => bodyParts.put([77, 8000], 'x'),
    finding: /text of no page: 77/,
  },
  'sections of no page': { plant: ({ sections }) => sections.put(77, []), finding: /sections of no page: 77/ },
  'visits that do not lead to the first one': {
    plant: ({ pages }) => edit(pages, 2, { visits: Buffer.of(5, 200) }),
    finding: /page 2: its visits do not lead to the first one/,
  },
  'a text that was changed': {
    plant: ({ bodies }) => bodies.put(2, 'first half. secund half.'),
    finding: /page 2: its text does not match its content_hash/,
  },
  'vectors that are no numbers': {
    plant: ({ vectors }) => {
      const rows = new Float32Array(2 * dim).fill(0.5);
      rows[3] = Number.NaN;
      return vectors.put([1, 2], Buffer.from(rows.buffer));
    },
    finding: /page 2 has vectors of m that are no numbers/,
  },
  'a text that lacks a part': {
    plant: ({ bodyParts }) => bodyParts.put([2, 9000], 'x'),
    finding: /page 2 lacks a part of its text or of its chunks/,
  },
  'a text that lacks its beginning': {
    plant: ({ bodies, bodyParts }) => [bodies.remove(2), bodyParts.put([2, 8000], 'x')],
    finding: /page 2 lacks a part of its text or of its chunks/,
  },
  'a list of chunks that lacks a part': {
    plant: ({ chunkParts }) => chunkParts.put([2, 64], []),
    finding: /page 2 lacks a part of its text or of its chunks/,
  },
  'a rule that no address leads to': {
    plant: ({ rules, counters }) => [rules.put(1, rule), counters.put('blacklist', 2)],
    finding: /rule 1: its pattern does not lead to it/,
  },
  'a rule whose settings no address is compared by': {
    plant: ({ rules, counters }) => [
      rules.put(1, { ...rule, canonicalized_by: [{ tracking_params: ['ref'], keep_params: {} }] }),
      counters.put('blacklist', 2),
    ],
    finding: /rule 1: no address is compared in the form that its settings make/,
  },
  'a pattern of no rule': {
    plant: ({ rulesByPattern }) => rulesByPattern.put(['url', 'hash'], 1),
    finding: /1 patterns for 0 rules/,
  },
  'vectors of no page': {
    plant: ({ vectors }) => vectors.put([1, 77], Buffer.alloc(16, 1)),
    finding: /vectors of m of no page: 77/,
  },
  'fewer chunks than the page counts': {
    plant: ({ chunks }) => chunks.put(2, (chunks.get(2) ?? []).slice(1)),
    finding: /page 2 has 1 chunks and counts 2/,
  },
  'a chunk outside its text': {
    plant: ({ chunks }) =>
      chunks.put(
        2,
        (chunks.get(2) ?? []).map((chunk) => ({ ...chunk, char_end: 999 })),
      ),
    finding: /page 2 has a chunk outside its text/,
  },
  'vectors that are missing': {
    plant: ({ vectors }) => vectors.remove([1, 2]),
    finding: /page 2 has 0 vectors of m for 2 chunks/,
  },
  'vectors of another length': {
    plant: ({ vectors }) => vectors.put([1, 2], Buffer.alloc(dim * 4 * 3, 1)),
    finding: /page 2 has 3 vectors of m for 2 chunks/,
  },
  'a label that two pages have': {
    plant: ({ pages }) => edit(pages, 2, { first_label: 1 }),
    finding: /label 1 belongs to pages 1 and 2/,
  },
  'a label that was not given yet': {
    plant: ({ counters }) => counters.put('label', 4),
    finding: /label \d was not given yet/,
  },
  'a page without its job': {
    plant: ({ pages }) => edit(pages, 3, { index_job: 99 }),
    finding: /page 3 has no index job/,
  },
  'a status that is not its job’s': {
    plant: ({ pages }) => edit(pages, 3, { status: 'failed' }),
    finding: /page 3 is failed and its index job 3 is done/,
  },
  'an indexed page without text': {
    plant: ({ bodies }) => bodies.remove(3),
    finding: /page 3 has (no text|a chunk outside)/,
  },
  'a query missing from the list by time': {
    plant: ({ queriesByTime }) => queriesByTime.remove(['search', 5, 1]),
    finding: /queries by time: .* is missing/,
  },
  'an id of no query': {
    plant: ({ queriesById }) => queriesById.put(['q9', 9], 0),
    finding: /queries by id: .* is of no row/,
  },
  'a query whose hits are cut off': {
    plant: ({ queries }) => edit(queries, 2, { dense_hits: Buffer.alloc(17) }),
    finding: /query 2: its hits cannot be read/,
  },
  'a query that found a page which never was': {
    plant: ({ queries }) => edit(queries, 2, { sparse_hits: Buffer.alloc(16, 1) }),
    finding: /query 2 found a page whose number was not given yet/,
  },
  'feedback on no query': {
    plant: ({ feedback }) => feedback.put([9, 1], true),
    finding: /feedback on no query: 9/,
  },
  'a query whose number was not given yet': {
    plant: ({ counters }) => counters.put('query', 1),
    finding: /query \d has a number that was not given yet/,
  },
};

/** Faults of pages, their texts, chunks and vectors, of jobs, of rules, and of logged searches. */
import { dim } from './made-folder.ts';
import { edit, type Faults } from './tampered-store.ts';

const pattern = 'https://example.com/forgotten';
const rule = { no: 1, kind: 'url', pattern, reason: null, created_at: 0, purging: false } as const;

export const lacksBeginning = /page 2 lacks a part of its text or chunks/;

export const pageFaults: Faults = [
  [/its URL leads to no page/, ({ byUrl }) => byUrl.remove([...byUrl.getKeys()][0])],
  [/its title does not lead to it/, ({ byTitle }) => byTitle.remove([...byTitle.getKeys()][0])],
  [/jobs by status: .* is missing/, ({ byStatus }) => byStatus.remove(['done', 1])],
  [/due jobs: .* belongs to no row/, ({ due }) => due.put(['index', 5, 99], 0)],
  [/chunks without a page: 77/, ({ chunks }) => chunks.put(77, [])],
  [/text without a page: 77/, ({ bodies }) => bodies.put(77, 'x')],
  [/text without a page: 77/, ({ bodyParts }) => bodyParts.put([77, 8000], 'x')],
  [/sections without a page: 77/, ({ sections }) => sections.put(77, [])],
  [/page 2: its visits do not lead to the first one/, ({ pages }) => edit(pages, 2, { visits: Buffer.of(5, 200) })],
  [/page 2: its text does not match its content_hash/, ({ bodies }) => bodies.put(2, 'first half. secund half.')],
  [
    /page 2 has vectors of m that are not numbers/,
    ({ vectors }) => {
      const rows = new Float32Array(2 * dim).fill(0.5);
      rows[3] = Number.NaN;
      return vectors.put([1, 2], Buffer.from(rows.buffer));
    },
  ],
  [/page 2 lacks a part of its text or chunks/, ({ bodyParts }) => bodyParts.put([2, 9000], 'x')],
  [lacksBeginning, ({ bodies, bodyParts }) => [bodies.remove(2), bodyParts.put([2, 8000], 'x')]],
  [/page 2 lacks a part of its text or chunks/, ({ chunkParts }) => chunkParts.put([2, 64], [])],
  [
    /rule 1: its pattern does not lead to it/,
    ({ rules, counters }) => [rules.put(1, rule), counters.put('blacklist', 2)],
  ],
  [
    /rule 1: its pattern is not canonical under its settings/,
    ({ rules, counters }) => [
      rules.put(1, { ...rule, canonicalized_by: [{ tracking_params: ['ref'], keep_params: {} }] }),
      counters.put('blacklist', 2),
    ],
  ],
  [/1 patterns for 0 rules/, ({ rulesByPattern }) => rulesByPattern.put(['url', 'hash'], 1)],
  [/vectors of m without a page: 77/, ({ vectors }) => vectors.put([1, 77], Buffer.alloc(16, 1))],
  [/page 2 has 1 chunks, but counts 2/, ({ chunks }) => chunks.put(2, (chunks.get(2) ?? []).slice(1))],
  [
    /page 2 has a chunk outside its text/,
    ({ chunks }) =>
      chunks.put(
        2,
        (chunks.get(2) ?? []).map((chunk) => ({ ...chunk, char_end: 999 })),
      ),
  ],
  [/page 2 has 0 vectors of m for 2 chunks/, ({ vectors }) => vectors.remove([1, 2])],
  [/page 2 has 3 vectors of m for 2 chunks/, ({ vectors }) => vectors.put([1, 2], Buffer.alloc(dim * 4 * 3, 1))],
  [/label 1 belongs to pages 1 and 2/, ({ pages }) => edit(pages, 2, { first_label: 1 })],
  [/label \d is not assigned yet/, ({ counters }) => counters.put('label', 4)],
  [/page 3 has no index job/, ({ pages }) => edit(pages, 3, { index_job: 99 })],
  [/page 3 is failed but its index job 3 is done/, ({ pages }) => edit(pages, 3, { status: 'failed' })],
  [/page 3 has (no text|a chunk outside)/, ({ bodies }) => bodies.remove(3)],
  [/queries by time: .* is missing/, ({ queriesByTime }) => queriesByTime.remove(['search', 5, 1])],
  [/queries by id: .* belongs to no row/, ({ queriesById }) => queriesById.put(['q9', 9], 0)],
  [/query 2: its hits cannot be read/, ({ queries }) => edit(queries, 2, { dense_hits: Buffer.alloc(17) })],
  [
    /query 2 found a page whose number is not assigned yet/,
    ({ queries }) => edit(queries, 2, { sparse_hits: Buffer.alloc(16, 1) }),
  ],
  [/feedback on a missing query: 9/, ({ feedback }) => feedback.put([9, 1], true)],
  [/query \d has a number that is not assigned yet/, ({ counters }) => counters.put('query', 1)],
];

/** Faults of models, their vectors, gaps, refused texts and backfills. */
import type { Backfill, EmbeddingModel, RefusedTexts } from '../../src/domain/model.ts';
import { firstBackfill } from '../../src/machines/backfill.ts';
import { edit, type Faults } from './tampered-store.ts';

export function refusal(ordinal: number): RefusedTexts {
  return { ordinals: [ordinal], reason: 'provider p: answered 400', at: 3 };
}

export const backfillOf = (space: number, model: string, changes: Partial<Backfill> = {}): Backfill => ({
  ...firstBackfill({ id: model, space }, { at: 1, job_no: 1, lastPage: 3 }),
  ...{ cursor: 3, status: 'complete', ...changes },
});

export const modelFaults: Faults = [
  [
    /page 2 has 2 vectors of m for 0 chunks/,
    ({ pages, chunks }) => [edit(pages, 2, { chunk_count: 0 }), chunks.put(2, [])],
  ],
  [/vectors of a missing model: space 9/, ({ vectors }) => vectors.put([9, 1], Buffer.alloc(16, 1))],
  [/page 2 has vectors of m for refused texts/, ({ refused }) => refused.put([1, 2], refusal(0))],
  [/page 2 has vectors of m for refused texts, or no vectors/, ({ refused }) => refused.put([1, 2], refusal(7))],
  [/refused texts without a model: space 9/, ({ refused }) => refused.put([9, 1], refusal(0))],
  [/gap of a missing page: 77/, ({ gaps }) => gaps.put([1, 77], 0)],
  [/gap of a missing model: page 1 in space 9/, ({ gaps }) => gaps.put([9, 1], 0)],
  [/page 2 has vectors of m, and a gap/, ({ gaps }) => gaps.put([1, 2], 0)],
  [
    /page 2 has a gap that no backfill of m will fill/,
    ({ vectors, gaps, backfills, backfillByJob }) => [
      ...[vectors.remove([1, 2]), gaps.put([1, 2], 0)],
      ...[backfills.put(1, backfillOf(1, 'm')), backfillByJob.put(1, 1)],
    ],
  ],
  [
    /backfill of a missing model: gone/,
    ({ backfills, backfillByJob }) => [backfills.put(9, backfillOf(9, 'gone')), backfillByJob.put(1, 9)],
  ],
  [/the backfill of m is not found by its job/, ({ backfills }) => backfills.put(1, backfillOf(1, 'm'))],
  [
    /the backfill of m runs without a job/,
    ({ backfills, backfillByJob }) => [
      ...[backfills.put(1, backfillOf(1, 'm', { status: 'running', job_no: 99 })), backfillByJob.put(99, 1)],
    ],
  ],
  [
    /m has no backfill/,
    ({ models }) => models.put('m', { ...(models.get('m') as EmbeddingModel), status: 'backfilling' }),
  ],
  [/the space of m is marked for deletion/, ({ dropped }) => dropped.put(1, 0)],
];

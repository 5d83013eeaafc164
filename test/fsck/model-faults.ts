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

export const modelFaults: Faults = {
  'vectors of a page without chunks': {
    plant: ({ pages, chunks }) => [edit(pages, 2, { chunk_count: 0 }), chunks.put(2, [])],
    finding: /page 2 has 2 vectors of m for 0 chunks/,
  },
  'vectors of no model': {
    plant: ({ vectors }) => vectors.put([9, 1], Buffer.alloc(16, 1)),
    finding: /vectors of no model: space 9/,
  },
  'a refused text that has a vector': {
    plant: ({ refused }) => refused.put([1, 2], refusal(0)),
    finding: /page 2 has vectors of m for refused texts/,
  },
  'a refused text that is no chunk': {
    plant: ({ refused }) => refused.put([1, 2], refusal(7)),
    finding: /page 2 has vectors of m for refused texts, or none at all/,
  },
  'a refused text of no model': {
    plant: ({ refused }) => refused.put([9, 1], refusal(0)),
    finding: /refused texts of no model: space 9/,
  },
  'a gap of no page': { plant: ({ gaps }) => gaps.put([1, 77], 0), finding: /gap of no page: 77/ },
  'a gap of no model': { plant: ({ gaps }) => gaps.put([9, 1], 0), finding: /gap of no model: page 1 in space 9/ },
  'a gap of a page that has its vectors': {
    plant: ({ gaps }) => gaps.put([1, 2], 0),
    finding: /page 2 has vectors of m, and a gap/,
  },
  'a gap that nobody is going to fill': {
    plant: ({ vectors, gaps, backfills, backfillByJob }) => [
      ...[vectors.remove([1, 2]), gaps.put([1, 2], 0)],
      ...[backfills.put(1, backfillOf(1, 'm')), backfillByJob.put(1, 1)],
    ],
    finding: /page 2 has a gap that no backfill of m is going to fill/,
  },
  'a backfill of no model': {
    plant: ({ backfills, backfillByJob }) => [backfills.put(9, backfillOf(9, 'gone')), backfillByJob.put(1, 9)],
    finding: /backfill of no model: gone/,
  },
  'a backfill that its job does not lead to': {
    plant: ({ backfills }) => backfills.put(1, backfillOf(1, 'm')),
    finding: /the backfill of m is not found by its job/,
  },
  'a backfill that runs without a job': {
    plant: ({ backfills, backfillByJob }) => [
      ...[backfills.put(1, backfillOf(1, 'm', { status: 'running', job_no: 99 })), backfillByJob.put(99, 1)],
    ],
    finding: /the backfill of m runs without a job/,
  },
  'a model that is filled by no backfill': {
    plant: ({ models }) => models.put('m', { ...(models.get('m') as EmbeddingModel), status: 'backfilling' }),
    finding: /m is filled by no backfill/,
  },
  'a model’s space among those to be emptied': {
    plant: ({ dropped }) => dropped.put(1, 0),
    finding: /the space of m is noted as one to be emptied/,
  },
};

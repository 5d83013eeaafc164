/**
 * The part of a repair that concerns models: what belongs to no model goes, a backfill that nobody works on has failed, so that it may
 * be started again, and pages that lack vectors of a ready model which is not the active one are left gaps, which start its backfill.
 */
import { isInFlight } from '../domain/job.ts';
import type { RefusedTexts } from '../domain/model.ts';
import type { Transaction } from '../store/store.ts';
import { areRefused } from '../store/vectors.ts';
import { leaveGap } from './backfill-model.ts';
import { type JobPolicy, moveBackfill, moveModel } from './move-job.ts';

/** Make registry, backfills and vectors agree. Gives how many vectors, refusals and gaps of nothing were deleted. */
export function repairModels(transaction: Transaction, { at }: Pick<JobPolicy, 'at'>): number {
  const { models, backfills, jobs, pages, vectors, refusedTexts } = transaction;
  const spaces = new Map(models.all().map((model) => [model.space, model]));
  for (const space of models.droppedSpaces()) if (spaces.has(space)) models.forgetDropped(space);
  for (const backfill of backfills.all()) {
    const model = spaces.get(backfill.space);
    if (model?.id !== backfill.model_id || model.status === 'registered') backfills.remove(backfill.space);
    else if (backfill.status === 'running') {
      if (isInFlight(jobs.get(backfill.job_no))) continue;
      moveBackfill(transaction, backfill, { type: 'fail', at, message: 'its job is gone' });
    }
  }
  for (const model of models.all()) {
    if (model.status !== 'backfilling' || backfills.get(model.space)?.status === 'running') continue;
    moveModel(transaction, model, { type: 'backfill.failed' });
  }
  const dropped = new Set(models.droppedSpaces()); // the next start empties them
  const isOfPage = (space: number, no: number) => spaces.has(space) && pages.has(no);
  const isRefused = (space: number, no: number, texts: RefusedTexts) => {
    const model = spaces.get(space);
    return model !== undefined && pages.has(no) && areRefused(texts, vectors.get(space, no), model.dim);
  };
  return (
    vectors.dropOrphans((space, no) => dropped.has(space) || isOfPage(space, no)) +
    refusedTexts.dropOrphans((space, no, texts) => dropped.has(space) || isRefused(space, no, texts)) +
    backfills.repair(
      (space, no, isBegun) => dropped.has(space) || (isOfPage(space, no) && vectors.has(space, no) === isBegun),
    )
  );
}

/** Leave gaps where a sound page lacks vectors of a ready model that is not the active one, or has such gaps that nobody fills. */
export function repairGaps(transaction: Transaction, pageNo: number, chunks: number, policy: JobPolicy): void {
  const { models, backfills, vectors } = transaction;
  for (const model of models.all()) {
    const { id, space, status } = model;
    const isBegun = backfills.isBegun(space, pageNo);
    if (chunks === 0 || (vectors.has(space, pageNo) && !isBegun)) backfills.closeGap(space, pageNo);
    else if (backfills.hasGap(space, pageNo) || (status === 'ready' && id !== models.activeId())) {
      leaveGap(transaction, model, pageNo, policy);
    }
  }
}

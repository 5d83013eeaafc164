/**
 * Reviews stored merges after the automatic rule changed: takes back automatic merges that the new rule would not make, and keeps a
 * user's. Goes from newest to oldest, a few per transaction, which also stores the position for a restart. A merge taken back leaves no
 * trace, so a user may merge the two.
 */
import { variantRule } from '../compute/entities/name-variants.ts';
import type { Entity, EntityMerge } from '../domain/entity.ts';
import type { Job } from '../domain/job.ts';
import type { EntityReader } from '../store/entities.ts';
import type { Command, Transaction } from '../store/store.ts';
import { variantForm } from './entity-trees.ts';
import { noteStandingAlone } from './match-entities.ts';
import { separate } from './merge-entities.ts';

/** Longest time between two merges of one job, and before its end, ms. */
const maxPauseMs = 2000;

export function areReviewed(entities: EntityReader): boolean {
  return entities.state('reviewed_rule') === variantRule;
}

/** Review the next `limit` merges. Returns how many were taken back, and whether it is done. */
export function reviewMerges(limit: number): Command<{ takenBack: number; isLast: boolean }> {
  return (transaction) => {
    const { entities } = transaction;
    if (areReviewed(entities)) return { takenBack: 0, isLast: true };
    const some = entities.merges(limit, entities.state('reviewed_to') || Number.MAX_SAFE_INTEGER);
    const isByJob = jobMerges(transaction);
    let takenBack = 0;
    for (const merge of some) {
      if (merge.made_by === 'user') continue;
      const [kept, merged] = [entities.get(merge.kept), entities.get(merge.merged)];
      if (kept === undefined || merged === undefined) continue;
      if (merge.made_by === undefined && !isByJob(merge, kept, merged)) continue;
      if (merge.undone_at !== null || areVariants(kept, merged)) {
        entities.putMerge({ ...merge, made_by: 'automatic' });
      } else {
        separate(transaction, merge);
        entities.removeMerge(merge.no);
        takenBack++;
      }
    }
    const isLast = some.length < limit;
    entities.setState('reviewed_to', isLast ? 0 : some[some.length - 1].no);
    if (isLast) {
      entities.setState('reviewed_rule', variantRule);
      entities.setState('job_merge_at', 0);
      // All are compared again, also by a running job.
      if (entities.count() > 0) noteStandingAlone(transaction, [1]);
    }
    return { takenBack, isLast };
  };
}

function areVariants(a: Entity, b: Entity): boolean {
  const form = variantForm(a);
  return form !== null && form === variantForm(b);
}

/**
 * Detects which merges a job made, where they do not record it; expects newest first. A job merges without pauses until it ends, and
 * earlier rules required a common word or equal first letters, without articles. Other merges may be a user's.
 */
function jobMerges({ entities, jobs }: Transaction): (merge: EntityMerge, kept: Entity, merged: Entity) => boolean {
  const all = jobs.list({ kind: 'canonicalize_entities', limit: Number.MAX_SAFE_INTEGER });
  const isOfJob = ({ status, created_at, updated_at }: Job, at: number): boolean => {
    if (status !== 'done' || at < created_at || at > updated_at) return false;
    const next = entities.state('job_merge_at');
    return updated_at - at <= maxPauseMs || (next >= at && next - at <= maxPauseMs);
  };
  return ({ merged_at }, kept, merged) => {
    if (!wereAlike(kept.key, merged.key) || !all.some((job) => isOfJob(job, merged_at))) return false;
    entities.setState('job_merge_at', merged_at);
    return true;
  };
}

function wereAlike(a: string, b: string): boolean {
  const plain = (key: string): readonly string[] => key.replace(/^the |[.'’]/g, '').match(/[\p{L}\p{N}]+/gu) ?? [];
  const [words, others] = [plain(a), plain(b)];
  const initials = (of: readonly string[]) => of.map(([first]) => first).join('');
  const isOne = words.join('') === others.join('') || initials(words) === initials(others);
  return isOne || words.some((word) => others.includes(word));
}

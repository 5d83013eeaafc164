/** The index's segments on the main side, and deletion by label, also during a merge. No I/O. */
import {
  createDeletions,
  type Deletions,
  deletedCount,
  isDeleted,
  markDeleted,
  openDeletions,
  ordinalOf,
  type Segment,
} from './segment.ts';

export interface SegmentMember {
  readonly id: number;
  readonly segment: Segment;
  readonly deletions: Deletions;
}

export function createMember(id: number, segment: Segment): SegmentMember {
  return { id, segment, deletions: createDeletions(segment.docs) };
}

export function holdsLabel({ segment, deletions }: SegmentMember, label: number): boolean {
  const ordinal = ordinalOf(segment, label);
  return ordinal >= 0 && !isDeleted(deletions, ordinal);
}

/** False if the segment has no such live label. */
export function deleteLabel({ segment, deletions }: SegmentMember, label: number): boolean {
  const ordinal = ordinalOf(segment, label);
  if (ordinal < 0) return false;
  return markDeleted(deletions, ordinal, segment.lengths[ordinal]);
}

export function deletedLabels({ segment, deletions }: SegmentMember): Uint32Array {
  return segment.labels.filter((_, ordinal) => isDeleted(deletions, ordinal));
}

/** A copy of the current deletions, for a merge. */
export function freezeDeletions({ buffer }: Deletions): Deletions {
  const copy = new SharedArrayBuffer(buffer.byteLength);
  new Uint8Array(copy).set(new Uint8Array(buffer));
  return openDeletions(copy);
}

/** Apply to `merged` what was deleted in `input` after `frozen`. */
export function carryDeletions(input: SegmentMember, frozen: Deletions, merged: SegmentMember): void {
  if (deletedCount(input.deletions) === deletedCount(frozen)) return;
  for (let ordinal = 0; ordinal < input.segment.docs; ordinal++) {
    if (isDeleted(input.deletions, ordinal) && !isDeleted(frozen, ordinal)) {
      deleteLabel(merged, input.segment.labels[ordinal]);
    }
  }
}

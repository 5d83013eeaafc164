/**
 * The index's segments as the main side holds them, and how their documents are deleted: by label, and when one is deleted while a
 * merge runs. No I/O.
 */
import { createDeletions, type Deletions, deletedCount, isDeleted, markDeleted, openDeletions } from './deletions.ts';
import { ordinalOf, type Segment, titleLengthOf } from './segment.ts';

export interface SegmentMember {
  readonly id: number;
  readonly segment: Segment;
  readonly deletions: Deletions;
}

/** A member over a segment, with nothing deleted. */
export function createMember(id: number, segment: Segment): SegmentMember {
  return { id, segment, deletions: createDeletions(segment.docs) };
}

/** Whether the label is in the segment and live. */
export function holdsLabel({ segment, deletions }: SegmentMember, label: number): boolean {
  const ordinal = ordinalOf(segment, label);
  return ordinal >= 0 && !isDeleted(deletions, ordinal);
}

/** Delete a label; false if the segment does not hold it live. */
export function deleteLabel({ segment, deletions }: SegmentMember, label: number): boolean {
  const ordinal = ordinalOf(segment, label);
  if (ordinal < 0) return false;
  return markDeleted(deletions, ordinal, segment.lengths[ordinal], titleLengthOf(segment, ordinal));
}

/** The labels deleted so far. */
export function deletedLabels({ segment, deletions }: SegmentMember): Uint32Array {
  return segment.labels.filter((_, ordinal) => isDeleted(deletions, ordinal));
}

/** A copy of the deletions as they are now: what a merge sees. */
export function freezeDeletions({ buffer }: Deletions): Deletions {
  const copy = new SharedArrayBuffer(buffer.byteLength);
  new Uint8Array(copy).set(new Uint8Array(buffer));
  return openDeletions(copy);
}

/** Delete in `merged` what was deleted in `input` after its deletions were frozen. */
export function carryDeletions(input: SegmentMember, frozen: Deletions, merged: SegmentMember): void {
  if (deletedCount(input.deletions) === deletedCount(frozen)) return;
  for (let ordinal = 0; ordinal < input.segment.docs; ordinal++) {
    if (isDeleted(input.deletions, ordinal) && !isDeleted(frozen, ordinal)) {
      deleteLabel(merged, input.segment.labels[ordinal]);
    }
  }
}

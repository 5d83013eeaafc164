/**
 * The index's segments as the main side holds them, and what happens to their tombstones: deletion by label, and the
 * carrying over of deletions that arrive while a merge runs. No I/O.
 */
import { ordinalOf, type Segment, titleLengthOf } from '../compute/bm25/segment.ts';
import {
  createTombstones,
  deletedCount,
  isDeleted,
  markDeleted,
  openTombstones,
  type Tombstones,
} from '../compute/bm25/tombstones.ts';

export interface SegmentMember {
  readonly id: number;
  readonly segment: Segment;
  readonly tombstones: Tombstones;
}

/** A member over a segment, with nothing deleted. */
export function createMember(id: number, segment: Segment): SegmentMember {
  return { id, segment, tombstones: createTombstones(segment.docs) };
}

/** Whether the label is in the segment and live. */
export function holdsLabel({ segment, tombstones }: SegmentMember, label: number): boolean {
  const ordinal = findOrdinal(segment, label);
  return ordinal >= 0 && !isDeleted(tombstones, ordinal);
}

/** Delete a label; false if the segment does not hold it live. */
export function deleteLabel({ segment, tombstones }: SegmentMember, label: number): boolean {
  const ordinal = findOrdinal(segment, label);
  if (ordinal < 0) return false;
  return markDeleted(tombstones, ordinal, segment.lengths[ordinal], titleLengthOf(segment, ordinal));
}

/** The labels deleted so far. */
export function deletedLabels({ segment, tombstones }: SegmentMember): Uint32Array {
  return segment.labels.filter((_, ordinal) => isDeleted(tombstones, ordinal));
}

/** A copy of the tombstones as they are now: what a merge sees. */
export function freezeTombstones({ buffer }: Tombstones): Tombstones {
  const copy = new SharedArrayBuffer(buffer.byteLength);
  new Uint8Array(copy).set(new Uint8Array(buffer));
  return openTombstones(copy);
}

/** Delete in `merged` what was deleted in `input` after its tombstones were frozen. */
export function carryDeletions(input: SegmentMember, frozen: Tombstones, merged: SegmentMember): void {
  if (deletedCount(input.tombstones) === deletedCount(frozen)) return;
  for (let ordinal = 0; ordinal < input.segment.docs; ordinal++) {
    if (isDeleted(input.tombstones, ordinal) && !isDeleted(frozen, ordinal)) {
      deleteLabel(merged, input.segment.labels[ordinal]);
    }
  }
}

function findOrdinal(segment: Segment, label: number): number {
  const { docs, labels } = segment;
  return docs === 0 || label < labels[0] || label > labels[docs - 1] ? -1 : ordinalOf(segment, label);
}

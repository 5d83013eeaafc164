/** Tasks of threads on whole segments: merging, files with checksums. The index decides paths, fsync and manifest. */

import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { openedFile, readInto, writePieces } from '../../files/checked-file.ts';
import { mergeSegments as merge } from './merge-segments.ts';
import { allocateSharedBytes, openDeletions, openSegment } from './segment.ts';

export interface SegmentBuffers {
  readonly segment: SharedArrayBuffer;
  readonly deletions: SharedArrayBuffer;
}

/** Pass copies of the deletions, because these may change meanwhile. */
export function mergeSegments(inputs: readonly SegmentBuffers[]): SharedArrayBuffer {
  const opened = inputs.map(({ segment, deletions }) => ({
    segment: openSegment(segment),
    deletions: openDeletions(deletions),
  }));
  return merge(opened).buffer;
}

/** Write a segment's file, without fsync. Returns the SHA-256 in hex. */
export function writeSegment({ path, segment }: { path: string; segment: SharedArrayBuffer }): string {
  return writePieces(path, [new Uint8Array(segment)]);
}

/** Reads a segment's file and its SHA-256 in hex, which detects a shrinking file. Errors: file system errors. */
export function readSegment(path: string): { segment: SharedArrayBuffer; sha256: string } {
  using file = openedFile(path, 'r');
  const segment = allocateSharedBytes(fstatSync(file.descriptor).size);
  const bytes = new Uint8Array(segment);
  readInto(file.descriptor, bytes);
  return { segment, sha256: createHash('sha256').update(bytes).digest('hex') };
}

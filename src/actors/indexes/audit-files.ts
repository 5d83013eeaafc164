/** Audits index files of a stopped service; only reads. Missing content is a fault only after a clean stop. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '../../engine/index-folder.ts';
import { readRows } from '../../engine/vectors/row-tasks.ts';
import { spaceManifest } from '../../engine/vectors/space-files.ts';
import { VectorRows } from '../../engine/vectors/vector-rows.ts';
import { openSegment, type Segment, SegmentFormatError } from '../../engine/words/segment.ts';
import { segmentManifest } from '../../engine/words/segment-files.ts';
import { readSegment } from '../../engine/words/segment-tasks.ts';

/** Checks intact segments of this version; returns faults. */
export type LookAtSegments = (segments: ReadonlyMap<string, Segment>) => string[];
/** Checks a space's rows; returns faults. */
export type LookAtRows = (rows: VectorRows) => string[];

export interface FilesAudit {
  findings: string[];
  /** Labels of the store that the files lack. */
  missing: number[];
  /** Labels of replaced content. The next start removes them. */
  obsolete: number[];
}

/** Expected labels, ascending. */
export interface StoredLabels {
  storeId: string;
  labels: readonly number[];
  labelEnd: number;
}

/** Each live label must be in at most one segment. */
export async function auditSegmentFiles(
  dir: string,
  stored: StoredLabels,
  look: LookAtSegments = () => [],
): Promise<FilesAudit> {
  const manifest = await readManifest(dir, segmentManifest);
  if (manifest === null) return compare([], stored, []);
  if (typeof manifest === 'string') return compare([], stored, [manifest]);
  const findings =
    manifest.store_id === stored.storeId ? [] : [`the segments belong to another store, ${manifest.store_id}`];
  const held: number[] = [];
  const segments = new Map<string, Segment>();
  for (const { file, docs, bytes, sha256 } of manifest.segments) {
    if (!existsSync(join(dir, file))) {
      findings.push(`${file} is missing`);
      continue;
    }
    const read = readSegment(join(dir, file));
    if (read.segment.byteLength !== bytes) findings.push(`${file} has ${read.segment.byteLength} bytes, not ${bytes}`);
    if (read.sha256 !== sha256) {
      findings.push(`${file} has another checksum`);
      continue;
    }
    const segment = segmentOf(read.segment);
    if (segment === null) continue;
    if (segment.docs !== docs) findings.push(`${file} has ${segment.docs} documents, not ${docs}`);
    for (const label of segment.labels) held.push(label);
    segments.set(file, segment);
  }
  findings.push(...look(segments));
  return compare(held, stored, findings);
}

/** Null for another version of readback: a start rebuilds the segment from the texts. */
function segmentOf(buffer: SharedArrayBuffer): Segment | null {
  try {
    return openSegment(buffer);
  } catch (error) {
    if (error instanceof SegmentFormatError) return null;
    throw error;
  }
}

export async function auditSpaceFiles(
  dir: string,
  stored: StoredLabels,
  look: LookAtRows = () => [],
): Promise<FilesAudit> {
  const manifest = await readManifest(dir, spaceManifest);
  if (typeof manifest === 'string') return compare([], stored, [manifest]);
  if (manifest?.format !== 4) return compare([], stored, []); // no manifest or an earlier version: a start builds it
  const findings =
    manifest.store_id === stored.storeId ? [] : [`the vectors belong to another store, ${manifest.store_id}`];
  const file = manifest.rows;
  if (file === null) return compare([], stored, findings);
  const rows = VectorRows.create(manifest.dim);
  const fault = readRows(rows, { ...file, path: join(dir, file.name) });
  if (fault !== null) return compare([], stored, [...findings, `${file.name}: ${fault}`]);
  return compare([...rows.liveLabels()], stored, [...findings, ...look(rows)]);
}

function compare(held: readonly number[], { labels, labelEnd }: StoredLabels, findings: string[]): FilesAudit {
  const live = new Set(labels);
  const seen = new Set<number>();
  for (const label of held) {
    if (label < 1 || label >= labelEnd) findings.push(`label ${label} is not assigned yet`);
    if (live.has(label) && seen.has(label)) findings.push(`label ${label} is present twice`);
    seen.add(label);
  }
  return {
    findings,
    missing: labels.filter((label) => !seen.has(label)),
    obsolete: [...seen].filter((label) => !live.has(label)),
  };
}

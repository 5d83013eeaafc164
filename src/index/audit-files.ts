/**
 * Audits the index files of a stopped service: files named by manifests exist, are sound, and have only labels of the store. Only reads.
 * Missing content is a fault after an orderly stop but not after a crash.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '../engine/index-folder.ts';
import { loadRows } from '../engine/vectors/shard-files.ts';
import { spaceManifest } from '../engine/vectors/space-files.ts';
import type { VectorRows } from '../engine/vectors/vector-rows.ts';
import { openSegment, type Segment, SegmentFormatError } from '../engine/words/segment.ts';
import { segmentManifest } from '../engine/words/segment-files.ts';

/** Checks sound segments of this version; returns faults. */
export type LookAtSegments = (segments: ReadonlyMap<string, Segment>) => string[];
/** Checks a space's shards by number; null for a missing or faulty one. */
export type LookAtShards = (shards: readonly (VectorRows | null)[]) => string[];

export interface FilesAudit {
  findings: string[];
  /** Labels of the store that the files lack. */
  missing: number[];
  /** Labels of replaced content, which a start removes. */
  obsolete: number[];
}

/** Expected labels, ascending. */
export interface StoredLabels {
  storeId: string;
  labels: readonly number[];
  labelEnd: number;
}

/** A live label is in at most one segment. */
export async function auditSegmentFiles(
  dir: string,
  stored: StoredLabels,
  look: LookAtSegments = () => [],
): Promise<FilesAudit> {
  const manifest = await readManifest(dir, segmentManifest);
  if (manifest === null) return compare([], stored, []);
  if (typeof manifest === 'string') return compare([], stored, [manifest]);
  const findings =
    manifest.store_id === stored.storeId ? [] : [`the segments are of another store, ${manifest.store_id}`];
  const held: number[] = [];
  const segments = new Map<string, Segment>();
  for (const { file, docs, bytes, sha256 } of manifest.segments) {
    if (!existsSync(join(dir, file))) {
      findings.push(`${file} is not there`);
      continue;
    }
    const content = readFileSync(join(dir, file));
    if (content.length !== bytes) findings.push(`${file} has ${content.length} bytes, not ${bytes}`);
    if (createHash('sha256').update(content).digest('hex') !== sha256) {
      findings.push(`${file} has another checksum`);
      continue;
    }
    const segment = segmentOf(content);
    if (segment === null) continue;
    if (segment.docs !== docs) findings.push(`${file} has ${segment.docs} documents, not ${docs}`);
    for (const label of segment.labels) held.push(label);
    segments.set(file, segment);
  }
  findings.push(...look(segments));
  return compare(held, stored, findings);
}

/** Null for another version of readback: a start rebuilds it from the texts. */
function segmentOf(content: Uint8Array): Segment | null {
  const buffer = new SharedArrayBuffer(content.length);
  new Uint8Array(buffer).set(content);
  try {
    return openSegment(buffer);
  } catch (error) {
    if (error instanceof SegmentFormatError) return null;
    throw error;
  }
}

/** Each label is in its shard. */
export async function auditSpaceFiles(
  dir: string,
  stored: StoredLabels,
  look: LookAtShards = () => [],
): Promise<FilesAudit> {
  const manifest = await readManifest(dir, spaceManifest);
  if (manifest === null) return compare([], stored, []);
  if (typeof manifest === 'string') return compare([], stored, [manifest]);
  const findings =
    manifest.store_id === stored.storeId ? [] : [`the vectors are of another store, ${manifest.store_id}`];
  const held: number[] = [];
  const shards = manifest.shards.map(({ rows }, shard) => {
    if (rows === null) return null;
    const loaded = loadRows(manifest.dim, { ...rows, path: join(dir, rows.name) });
    if (typeof loaded === 'string') {
      findings.push(`${rows.name}: ${loaded}`);
      return null;
    }
    for (const label of loaded.liveLabels()) {
      if (label % manifest.shards.length !== shard) findings.push(`label ${label} is in shard ${shard}`);
      held.push(label);
    }
    return loaded;
  });
  findings.push(...look(shards));
  return compare(held, stored, findings);
}

function compare(held: readonly number[], { labels, labelEnd }: StoredLabels, findings: string[]): FilesAudit {
  const live = new Set(labels);
  const seen = new Set<number>();
  for (const label of held) {
    if (label < 1 || label >= labelEnd) findings.push(`label ${label} was not given yet`);
    if (live.has(label) && seen.has(label)) findings.push(`label ${label} is there twice`);
    seen.add(label);
  }
  return {
    findings,
    missing: labels.filter((label) => !seen.has(label)),
    obsolete: [...seen].filter((label) => !live.has(label)),
  };
}

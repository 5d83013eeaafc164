/**
 * The audit of the index files of a stopped service: what its manifests name is there, whole, and holds only labels that
 * the store has given. It only reads. What is missing is no fault after a crash (a start brings it back) and is one after an orderly stop.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '../engine/index-folder.ts';
import { loadRows } from '../engine/vectors/shard-files.ts';
import { spaceManifest } from '../engine/vectors/space-files.ts';
import { openSegment, type Segment, SegmentFormatError } from '../engine/words/segment.ts';
import { segmentManifest } from '../engine/words/segment-files.ts';

export interface FilesAudit {
  findings: string[];
  /** Of the store's labels, those that the files do not hold. */
  missing: number[];
  /** Labels of content that was replaced since: a start lets go of them. */
  obsolete: number[];
}

/** What the files should agree with; labels ascending. */
export interface StoredLabels {
  storeId: string;
  /** Of chunks that a page has now. */
  labels: readonly number[];
  /** One past the highest label given. */
  labelEnd: number;
}

/** Audit the folder of the sparse index: a live label is in at most one segment. */
export async function auditSegmentFiles(dir: string, stored: StoredLabels): Promise<FilesAudit> {
  const manifest = await readManifest(dir, segmentManifest);
  if (manifest === null) return compare([], stored, []);
  if (typeof manifest === 'string') return compare([], stored, [manifest]);
  const findings =
    manifest.store_id === stored.storeId ? [] : [`the segments are of another store, ${manifest.store_id}`];
  const held: number[] = [];
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
  }
  return compare(held, stored, findings);
}

/** Null for one of another version of readback: a start makes it anew from the texts. */
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

/** Audit the folder of a vector space: a label is in the shard that its number says. */
export async function auditSpaceFiles(dir: string, stored: StoredLabels): Promise<FilesAudit> {
  const manifest = await readManifest(dir, spaceManifest);
  if (manifest === null) return compare([], stored, []);
  if (typeof manifest === 'string') return compare([], stored, [manifest]);
  const findings =
    manifest.store_id === stored.storeId ? [] : [`the vectors are of another store, ${manifest.store_id}`];
  const held: number[] = [];
  manifest.shards.forEach(({ rows }, shard) => {
    if (rows === null) return;
    const loaded = loadRows(manifest.dim, { ...rows, path: join(dir, rows.name) });
    if (typeof loaded === 'string') {
      findings.push(`${rows.name}: ${loaded}`);
      return;
    }
    for (const label of loaded.liveLabels()) {
      if (label % manifest.shards.length !== shard) findings.push(`label ${label} is in shard ${shard}`);
      held.push(label);
    }
  });
  return compare(held, stored, findings);
}

function compare(held: readonly number[], { labels, labelEnd }: StoredLabels, findings: string[]): FilesAudit {
  const live = new Set(labels);
  const seen = new Set<number>();
  for (const label of held) {
    if (label < 1 || label >= labelEnd) findings.push(`label ${label} was not given yet`);
    if (live.has(label) && seen.has(label)) findings.push(`label ${label} is held twice`);
    seen.add(label);
  }
  return {
    findings,
    missing: labels.filter((label) => !seen.has(label)),
    obsolete: [...seen].filter((label) => !live.has(label)),
  };
}

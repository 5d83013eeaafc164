/**
 * Proves a stopped service's data folder: pages, chunks, labels, vectors, entities, clusters, watches, jobs and the query log
 * of the store against each other, and the index files (postings, chunk vectors, page vectors) against the store. Reads only.
 */
import { join } from 'node:path';
import { auditSegmentFiles, auditSpaceFiles, type FilesAudit } from '../index/audit-files.ts';
import { auditStore } from '../store/audit.ts';

export interface FolderReport {
  pages: number;
  chunks: number;
  /** Disagreements within the store: to be repaired. */
  store: string[];
  /** Faults of index files by folder below `index/`: the folder is to be built again. */
  index: { dir: string; findings: string[] }[];
  /** Entries that index files lack, over all files (a chunk has one in postings and one in each model's vectors): a start brings them back. */
  missing: number;
  /** Vectors of pages that a backfill is still to make: one runs, or has failed and may be started again. */
  waiting: number;
  /** Chunks that a model's provider refuses to embed: they have no vector of it. */
  refused: number;
  /** Labels of replaced content in index files: a start lets go of them. */
  obsolete: number;
}

export async function checkFolder(dataDir: string): Promise<FolderReport> {
  const store = await auditStore(dataDir);
  const index = join(dataDir, 'index');
  const audits: { dir: string; audit: FilesAudit }[] = [
    { dir: 'sparse', audit: await auditSegmentFiles(join(index, 'sparse'), store) },
  ];
  for (const { id, space } of store.models) {
    const spaces = [
      [join('dense', String(space)), store.vectorLabels],
      [join('pages', String(space)), store.pageLabels],
    ] as const;
    for (const [dir, labelsOf] of spaces) {
      const labels = labelsOf.get(id) ?? [];
      audits.push({ dir, audit: await auditSpaceFiles(join(index, dir), { ...store, labels }) });
    }
  }
  return {
    pages: store.pages,
    chunks: store.labels.length,
    store: store.findings,
    index: audits
      .map(({ dir, audit }) => ({ dir, findings: [...audit.findings, ...forgottenIn(audit, store.verifiedLabels)] }))
      .filter(({ findings }) => findings.length > 0),
    waiting: store.waiting,
    refused: store.refused,
    missing: audits.reduce((sum, { audit }) => sum + audit.missing.length, 0),
    obsolete: audits.reduce((sum, { audit }) => sum + audit.obsolete.length, 0),
  };
}

/** Whether there is anything to repair; what a start settles by itself is not. */
export function isClean(report: FolderReport): boolean {
  return report.store.length === 0 && report.index.length === 0;
}

/** What was forgotten and found to be gone is there again: an older file was put back. */
function forgottenIn({ obsolete }: FilesAudit, verified: ReadonlySet<number>): string[] {
  const held = obsolete.filter((label) => verified.has(label)).length;
  return held === 0 ? [] : [`${held} chunks of forgotten pages are in the files`];
}

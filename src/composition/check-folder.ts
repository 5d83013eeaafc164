/** Verifies a stopped service's data folder: the store's records, and the index files against the store. Reads only. */

import { join } from 'node:path';
import { auditSegmentFiles, auditSpaceFiles, type FilesAudit } from '../actors/indexes/audit-files.ts';
import { closing } from '../compute/closing.ts';
import type { PageTools } from '../engine/prepare-page.ts';
import { auditStore, type StoreAudit } from '../store/audit.ts';
import { StoreView } from '../store/store-view.ts';
import { type PageComparison, pageComparison, type Sample, type TextComparison } from './compare-pages.ts';

export interface FolderReport {
  pages: number;
  chunks: number;
  store: string[];
  /** Faults of index files by folder below `index/`; the folder must be rebuilt. */
  index: { dir: string; findings: string[] }[];
  /** Entries missing in index files, over all files; the next start restores them. */
  missing: number;
  /** Page vectors that a running or failed backfill still has to compute. */
  waiting: number;
  /** Chunks that a model's provider refuses to embed. */
  refused: number;
  /** Labels of replaced content in index files; the next start removes them. */
  obsolete: number;
  /** Results of the comparison, if requested. */
  compared?: {
    pages: number;
    of: number;
    /** Vectors that were compared with their texts. */
    vectors: number;
    /** Pages of earlier versions, whose words were not compared. */
    ofEarlierVersions: number;
  };
}

export interface Comparing {
  sample: Sample;
  tools: PageTools;
  texts?: TextComparison;
}

export async function checkFolder(dataDir: string, comparing?: Comparing): Promise<FolderReport> {
  const store = await auditStore(dataDir);
  if (comparing === undefined) return checkFiles(dataDir, store, null);
  await using view = closing(StoreView.open(dataDir));
  const comparison = pageComparison(view.reader, comparing.tools, comparing.sample);
  const { pages, ofEarlierVersions } = comparison;
  const ofVectors = comparing.texts && (await comparison.vectorFindings(comparing.texts));
  const findings = [...store.findings, ...comparison.storeFindings(), ...(ofVectors?.findings ?? [])];
  return {
    ...(await checkFiles(dataDir, { ...store, findings }, comparison)),
    compared: { pages, of: store.pages, vectors: ofVectors?.vectors ?? 0, ofEarlierVersions },
  };
}

async function checkFiles(
  dataDir: string,
  store: StoreAudit,
  comparison: PageComparison | null,
): Promise<FolderReport> {
  const index = join(dataDir, 'index');
  const sparse = await auditSegmentFiles(join(index, 'sparse'), store, comparison?.lookAtSegments);
  const audits: { dir: string; audit: FilesAudit }[] = [{ dir: 'sparse', audit: sparse }];
  for (const model of store.models) {
    const { id, space } = model;
    const spaces = [
      [join('dense', String(space)), store.vectorLabels, comparison?.lookAtVectors(model)],
      [join('pages', String(space)), store.pageLabels, comparison?.lookAtPageVectors(model)],
    ] as const;
    for (const [dir, labelsOf, look] of spaces) {
      const labels = labelsOf.get(id) ?? [];
      audits.push({ dir, audit: await auditSpaceFiles(join(index, dir), { ...store, labels }, look) });
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

/** Whether nothing needs repair by the user. The next start fixes some faults itself. */
export function isClean(report: FolderReport): boolean {
  return report.store.length === 0 && report.index.length === 0;
}

/** Content of a verified deletion is in the files again, because an older file was restored. */
function forgottenIn({ obsolete }: FilesAudit, verified: ReadonlySet<number>): string[] {
  const found = obsolete.filter((label) => verified.has(label)).length;
  return found === 0 ? [] : [`${found} chunks of forgotten pages are in the files`];
}

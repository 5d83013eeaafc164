/** The audit of a stopped service's whole data folder: the store, and the index files against it. */
import { join } from 'node:path';
import { auditSegmentFiles, auditSpaceFiles } from '../../src/index/audit-files.ts';
import { auditStore, type StoreAudit } from '../../src/store/audit.ts';

export interface FolderAudit extends Pick<StoreAudit, 'findings' | 'pages' | 'labels'> {
  /** Labels that the segments or a vector space lack: none after an orderly stop. */
  missing: number[];
}

export async function auditFolder(dataDir: string): Promise<FolderAudit> {
  const store = await auditStore(dataDir);
  const index = join(dataDir, 'index');
  const audits = [auditSegmentFiles(join(index, 'sparse'), store)];
  for (const { id, space } of store.models) {
    const labels = store.vectorLabels.get(id) ?? [];
    audits.push(await auditSpaceFiles(join(index, 'dense', String(space)), { ...store, labels }));
  }
  return {
    findings: [...store.findings, ...audits.flatMap(({ findings }) => findings)],
    missing: audits.flatMap(({ missing }) => missing),
    pages: store.pages,
    labels: store.labels,
  };
}

/**
 * Audits a store: compares redundant records one to one and lists every disagreement. Only reads. Requires a store without a concurrent
 * writer: a stopped service or a copy.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { areVisitsSound } from '../compute/structures/visit-times.ts';
import { laneOf } from '../domain/lane.ts';
import type { EmbeddingModel } from '../domain/model.ts';
import { areChunksOf, pageStatusUnder } from '../domain/page.ts';
import { auditClusters } from './audit-clusters.ts';
import { EntityAuditor } from './audit-entities.ts';
import { BackfillAuditor, VectorAuditor, type VectorAuditParts } from './audit-vectors.ts';
import { auditIndex, BlacklistAuditor, QueryLogAuditor, TombstoneAuditor, WatchAuditor } from './audit-watches.ts';
import { ClusterReader } from './clusters.ts';
import { Counters } from './counters.ts';
import { openEnvironment } from './environment.ts';
import { JobReader } from './jobs.ts';
import { ModelReader } from './models.ts';
import { PageReader } from './pages.ts';
import { RefusedTextReader } from './vectors.ts';

type Finding = string;

export interface StoreAudit {
  findings: Finding[];
  storeId: string;
  models: EmbeddingModel[];
  /** Page vectors that backfills still have to compute, one per page and model. */
  waiting: number;
  refused: number;
  pages: number;
  /** One past the highest label given. */
  labelEnd: number;
  labels: number[];
  /** Labels with a nonzero vector, per model id. */
  vectorLabels: Map<string, number[]>;
  /** Labels of forgotten chunks that no index file may contain. */
  verifiedLabels: ReadonlySet<number>;
  /** First labels of pages with a page vector, per model id. */
  pageLabels: Map<string, number[]>;
}

/** Errors: no store below `dataDir`, or another format. */
export async function auditStore(dataDir: string): Promise<StoreAudit> {
  const path = join(dataDir, 'store');
  if (!existsSync(path)) throw new Error(`there is no store in ${dataDir}`);
  const environment = openEnvironment(path, () => {
    throw new Error(`the store in ${dataDir} has no stamp`);
  });
  try {
    const counters = new Counters(environment);
    const jobs = new JobAuditor(environment);
    const pages = new PageAuditor(environment);
    const models = new ModelReader(environment);
    const tombstones = new TombstoneAuditor(environment);
    const { findings: ofLabels, labels } = pages.auditLabels(counters.peek('label'));
    const parts: VectorAuditParts = {
      ...{ pages, jobs, models, backfills: new BackfillAuditor(environment) },
      refusedTexts: new RefusedTextReader(environment),
      awaitsPurge: (no) => tombstones.get(no)?.state === 'pending',
    };
    const { findings: ofVectors, refused, ...labelsByModel } = new VectorAuditor(environment).audit(parts);
    const { findings: ofBackfills, waiting } = parts.backfills.audit(parts);
    return {
      findings: [
        ...jobs.audit(counters.peek('job')),
        ...pages.auditFinding(counters.peek('page')),
        ...pages.auditJobs(jobs),
        ...ofLabels,
        ...ofVectors,
        ...ofBackfills,
        ...new BlacklistAuditor(environment).audit(counters.peek('blacklist'), pages),
        ...tombstones.audit(pages, jobs),
        ...new EntityAuditor(environment).audit({
          ...{ pages, jobs, nextEntity: counters.peek('entity'), nextMerge: counters.peek('merge') },
        }),
        ...auditClusters({
          ...{ clusters: new ClusterReader(environment), pages, jobs },
          ...{ nextCluster: counters.peek('cluster'), nextRun: counters.peek('cluster_run') },
        }),
        ...new WatchAuditor(environment).audit(counters.peek('watch')),
        ...new QueryLogAuditor(environment).audit(counters.peek('query'), counters.peek('page')),
      ],
      storeId: environment.storeId,
      models: models.all().filter(({ status }) => status === 'ready'),
      waiting,
      refused,
      pages: pages.count(),
      labelEnd: counters.peek('label'),
      labels,
      ...labelsByModel,
      verifiedLabels: tombstones.verifiedLabels(),
    };
  } finally {
    await environment.root.close();
  }
}

class JobAuditor extends JobReader {
  audit(nextNo: number): Finding[] {
    const jobs = this.all();
    const claimable = jobs.filter(({ status }) => status === 'pending' || status === 'failed');
    return [
      ...jobs.filter(({ no }) => no >= nextNo).map(({ no }) => `job ${no} has a number that was not given yet`),
      ...auditIndex(
        'jobs by status',
        jobs.map((job) => [job.status, job.no]),
        this.byStatus.getKeys(),
      ),
      ...auditIndex(
        'jobs by kind',
        jobs.map((job) => [job.kind, job.no]),
        this.byKind.getKeys(),
      ),
      ...auditIndex(
        'due jobs',
        claimable.map((job) => [laneOf(job), job.run_at, job.no]),
        this.due.getKeys(),
      ),
    ];
  }
}

class PageAuditor extends PageReader {
  auditFinding(nextNo: number): Finding[] {
    const findings: Finding[] = [];
    let titled = 0;
    for (const page of this.all()) {
      if (page.no >= nextNo) findings.push(`page ${page.no} has a number that was not given yet`);
      const byUrl = this.numberByUrl(page.canonical_url);
      if (this.merged.doesExist(page.no)) findings.push(`page ${page.no} is there and merged into another`);
      if (!areVisitsSound(page)) findings.push(`page ${page.no}: its visits do not lead to the first one`);
      if (byUrl !== page.no) findings.push(`page ${page.no}: its URL leads to ${byUrl ?? 'no page'}`);
      if (page.title === null) continue;
      titled++;
      if (!this.numbersByTitle(page.title, Number.MAX_SAFE_INTEGER).includes(page.no)) {
        findings.push(`page ${page.no}: its title does not lead to it`);
      }
    }
    const urls = this.byUrl.getKeysCount();
    const titles = this.byTitle.getKeysCount();
    if (urls !== this.count()) findings.push(`${urls} URLs for ${this.count()} pages`);
    if (titles !== titled) findings.push(`${titles} titles for ${titled} pages with one`);
    return findings;
  }

  auditJobs(jobs: JobReader): Finding[] {
    const findings: Finding[] = [];
    for (const page of this.all()) {
      const job = jobs.get(page.index_job);
      if (job === undefined) findings.push(`page ${page.no} has no index job`);
      else if (job.page_no !== page.no)
        findings.push(`page ${page.no}: its index job ${job.no} works on ${job.page_no}`);
      else if (page.status !== pageStatusUnder[job.status]) {
        findings.push(`page ${page.no} is ${page.status} and its index job ${job.no} is ${job.status}`);
      }
      if (page.status === 'indexed' && page.indexed_at === null) findings.push(`page ${page.no} is indexed at no time`);
      if (page.status === 'indexed' && !this.hasBody(page.no)) findings.push(`page ${page.no} has no text`);
    }
    return findings;
  }

  /** Labels are unique; each page has as many chunks as labels, within its text. */
  auditLabels(nextLabel: number): { findings: Finding[]; labels: number[] } {
    const findings: Finding[] = [];
    const owners = new Map<number, number>();
    for (const page of this.all()) {
      const chunks = this.chunks(page.no);
      if (chunks.length !== page.chunk_count) {
        findings.push(`page ${page.no} has ${chunks.length} chunks and counts ${page.chunk_count}`);
      }
      const length = this.bodyLength(page.no) ?? 0;
      if (!this.isWhole(page.no)) findings.push(`page ${page.no} lacks a part of its text or of its chunks`);
      else if (!this.isUnchanged(page)) findings.push(`page ${page.no}: its text does not match its content_hash`);
      if (!areChunksOf(length, chunks)) {
        findings.push(`page ${page.no} has a chunk outside its text`);
      }
      for (let label = page.first_label; label < page.first_label + page.chunk_count; label++) {
        const owner = owners.get(label);
        if (owner !== undefined) findings.push(`label ${label} belongs to pages ${owner} and ${page.no}`);
        if (label < 1 || label >= nextLabel) findings.push(`page ${page.no}: label ${label} was not given yet`);
        owners.set(label, page.no);
      }
    }
    for (const no of this.chunkLists.owners())
      if (this.get(no) === undefined) findings.push(`chunks of no page: ${no}`);
    for (const no of this.texts.owners()) if (this.get(no) === undefined) findings.push(`text of no page: ${no}`);
    for (const no of this.sectionLists.getKeys()) {
      if (this.get(no) === undefined) findings.push(`sections of no page: ${no}`);
    }
    for (const no of this.feedContents.getKeys()) {
      if (this.get(no) === undefined) findings.push(`content of a feed of no page: ${no}`);
    }
    return { findings, labels: [...owners.keys()].sort((a, b) => a - b) };
  }
}

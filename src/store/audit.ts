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

export interface StoreAudit {
  findings: string[];
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
    const parts: VectorAuditParts = {
      ...{ pages, jobs, models, backfills: new BackfillAuditor(environment) },
      refusedTexts: new RefusedTextReader(environment),
      awaitsPurge: (no) => tombstones.get(no)?.state === 'pending',
    };
    const { findings: ofVectors, refused, ...labelsByModel } = new VectorAuditor(environment).audit(parts);
    return {
      findings: [
        ...jobs.audit(counters.peek('job')),
        ...pages.auditFinding(counters.peek('page')),
        ...pages.auditJobs(jobs),
        ...pages.auditContents(counters.peek('label')),
        ...ofVectors,
        ...parts.backfills.audit(parts),
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
      waiting: parts.backfills.waiting(parts),
      refused,
      pages: pages.count(),
      labelEnd: counters.peek('label'),
      labels: pages.labels(),
      ...labelsByModel,
      verifiedLabels: tombstones.verifiedLabels(),
    };
  } finally {
    await environment.root.close();
  }
}

class JobAuditor extends JobReader {
  *audit(nextNo: number): Generator<string> {
    const jobs = this.all();
    const claimable = jobs.filter(({ status }) => status === 'pending' || status === 'failed');
    const [byStatus, byKind] = [jobs.map(({ status, no }) => [status, no]), jobs.map(({ kind, no }) => [kind, no])];
    const due = claimable.map((job) => [laneOf(job), job.run_at, job.no]);
    for (const { no } of jobs) if (no >= nextNo) yield `job ${no} has a number that was not given yet`;
    yield* auditIndex('jobs by status', byStatus, this.byStatus.getKeys());
    yield* auditIndex('jobs by kind', byKind, this.byKind.getKeys());
    yield* auditIndex('due jobs', due, this.due.getKeys());
  }
}

class PageAuditor extends PageReader {
  *auditFinding(nextNo: number): Generator<string> {
    let titled = 0;
    for (const page of this.all()) {
      if (page.no >= nextNo) yield `page ${page.no} has a number that was not given yet`;
      const byUrl = this.numberByUrl(page.canonical_url);
      if (this.merged.doesExist(page.no)) yield `page ${page.no} is there and merged into another`;
      if (!areVisitsSound(page)) yield `page ${page.no}: its visits do not lead to the first one`;
      if (byUrl !== page.no) yield `page ${page.no}: its URL leads to ${byUrl ?? 'no page'}`;
      if (page.title === null) continue;
      titled++;
      if (!this.numbersByTitle(page.title, Number.MAX_SAFE_INTEGER).includes(page.no)) {
        yield `page ${page.no}: its title does not lead to it`;
      }
    }
    const urls = this.byUrl.getKeysCount();
    const titles = this.byTitle.getKeysCount();
    if (urls !== this.count()) yield `${urls} URLs for ${this.count()} pages`;
    if (titles !== titled) yield `${titles} titles for ${titled} pages with one`;
  }

  *auditJobs(jobs: JobReader): Generator<string> {
    for (const page of this.all()) {
      const job = jobs.get(page.index_job);
      if (job === undefined) yield `page ${page.no} has no index job`;
      else if (job.page_no !== page.no) yield `page ${page.no}: its index job ${job.no} works on ${job.page_no}`;
      else if (page.status !== pageStatusUnder[job.status]) {
        yield `page ${page.no} is ${page.status} and its index job ${job.no} is ${job.status}`;
      }
      if (page.status === 'indexed' && page.indexed_at === null) yield `page ${page.no} is indexed at no time`;
      if (page.status === 'indexed' && !this.hasBody(page.no)) yield `page ${page.no} has no text`;
    }
  }

  /** Labels are unique; each page has as many chunks as labels, within its text. */
  *auditContents(nextLabel: number): Generator<string> {
    const owners = new Map<number, number>();
    for (const page of this.all()) {
      const chunks = this.chunks(page.no);
      if (chunks.length !== page.chunk_count)
        yield `page ${page.no} has ${chunks.length} chunks and counts ${page.chunk_count}`;
      const length = this.bodyLength(page.no) ?? 0;
      if (!this.isWhole(page.no)) yield `page ${page.no} lacks a part of its text or of its chunks`;
      else if (!this.isUnchanged(page)) yield `page ${page.no}: its text does not match its content_hash`;
      if (!areChunksOf(length, chunks)) yield `page ${page.no} has a chunk outside its text`;
      for (let label = page.first_label; label < page.first_label + page.chunk_count; label++) {
        const owner = owners.get(label);
        if (owner !== undefined) yield `label ${label} belongs to pages ${owner} and ${page.no}`;
        if (label < 1 || label >= nextLabel) yield `page ${page.no}: label ${label} was not given yet`;
        owners.set(label, page.no);
      }
    }
    const owned = [
      ['chunks', this.chunkLists.owners()],
      ['text', this.texts.owners()],
      ['sections', this.sectionLists.getKeys()],
      ['content of a feed', this.feedContents.getKeys()],
    ] as const;
    for (const [what, owners] of owned) for (const no of owners) if (!this.has(no)) yield `${what} of no page: ${no}`;
  }

  /** Of all chunks, ascending. */
  labels(): number[] {
    const labels = new Set<number>();
    for (const { first_label, chunk_count } of this.all())
      for (let ordinal = 0; ordinal < chunk_count; ordinal++) labels.add(first_label + ordinal);
    return [...labels].sort((a, b) => a - b);
  }
}

/** Audits a store that no process writes. Compares redundant records and lists every disagreement. Only reads. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { meanPageVector } from '../compute/embedding/pool-vectors.ts';
import { areVisitsSound } from '../compute/structures/visit-times.ts';
import { isInFlight, laneOf } from '../domain/job.ts';
import { type EmbeddingModel, takesPages } from '../domain/model.ts';
import { areChunksOf, pageStatusUnder } from '../domain/page.ts';
import { auditClusters } from './audit-clusters.ts';
import { EntityAuditor } from './audit-entities.ts';
import { auditIndex, BlacklistAuditor, QueryLogAuditor, TombstoneAuditor, WatchAuditor } from './audit-watches.ts';
import { BackfillReader } from './backfills.ts';
import { ClusterReader } from './clusters.ts';
import { Counters } from './counters.ts';
import { openEnvironment } from './environment.ts';
import { JobReader } from './jobs.ts';
import { ModelReader } from './models.ts';
import { PageReader } from './pages.ts';
import { areRefused, RefusedTextReader, VectorReader } from './vectors.ts';

export type StoreAudit = Awaited<ReturnType<typeof auditStore>>;

/** Errors: no store below `dataDir`, or another format. */
export async function auditStore(dataDir: string) {
  const path = join(dataDir, 'store');
  if (!existsSync(path)) throw new Error(`there is no store in ${dataDir}`);
  const environment = openEnvironment(path, () => {
    throw new Error(`the store in ${dataDir} has no format stamp`);
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
      /** Page vectors that backfills still have to compute, one per page and model. */
      waiting: parts.backfills.waiting(parts),
      refused,
      pages: pages.count(),
      /** The highest assigned label plus one. */
      labelEnd: counters.peek('label'),
      labels: pages.labels(),
      ...labelsByModel,
      /** Labels of forgotten chunks that no index file may contain. */
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
    for (const { no } of jobs) if (no >= nextNo) yield `job ${no} has a number that is not assigned yet`;
    yield* auditIndex('jobs by status', byStatus, this.byStatus.getKeys());
    yield* auditIndex('jobs by kind', byKind, this.byKind.getKeys());
    yield* auditIndex('due jobs', due, this.due.getKeys());
  }
}

class PageAuditor extends PageReader {
  *auditFinding(nextNo: number): Generator<string> {
    let titled = 0;
    for (const page of this.all()) {
      if (page.no >= nextNo) yield `page ${page.no} has a number that is not assigned yet`;
      const byUrl = this.numberByUrl(page.canonical_url);
      if (this.merged.doesExist(page.no)) yield `page ${page.no} exists, although it is merged into another`;
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
      else if (job.page_no !== page.no) yield `page ${page.no}: its index job ${job.no} belongs to page ${job.page_no}`;
      else if (page.status !== pageStatusUnder[job.status]) {
        yield `page ${page.no} is ${page.status} but its index job ${job.no} is ${job.status}`;
      }
      if (page.status === 'indexed' && page.indexed_at === null && page.refresh_job === undefined)
        yield `page ${page.no} is indexed, but has no time of indexing`;
      if (page.status === 'indexed' && !this.hasBody(page.no)) yield `page ${page.no} has no text`;
    }
  }

  /** Labels are unique; each page has as many chunks as labels, within its text. */
  *auditContents(nextLabel: number): Generator<string> {
    const owners = new Map<number, number>();
    for (const page of this.all()) {
      const chunks = this.chunks(page.no);
      if (chunks.length !== page.chunk_count)
        yield `page ${page.no} has ${chunks.length} chunks, but counts ${page.chunk_count}`;
      const length = this.bodyLength(page.no) ?? 0;
      if (!this.isWhole(page.no)) yield `page ${page.no} lacks a part of its text or chunks`;
      else if (!this.isUnchanged(page)) yield `page ${page.no}: its text does not match its content_hash`;
      if (!areChunksOf(length, chunks)) yield `page ${page.no} has a chunk outside its text`;
      for (let label = page.first_label; label < page.first_label + page.chunk_count; label++) {
        const owner = owners.get(label);
        if (owner !== undefined) yield `label ${label} belongs to pages ${owner} and ${page.no}`;
        if (label < 1 || label >= nextLabel) yield `page ${page.no}: label ${label} is not assigned yet`;
        owners.set(label, page.no);
      }
    }
    const owned = [
      ['chunks', this.chunkLists.owners()],
      ['text', this.texts.owners()],
      ['sections', this.sectionLists.getKeys()],
      ['content of a feed', this.feedContents.getKeys()],
      ['new text', this.newTexts.getKeys()],
    ] as const;
    for (const [what, owners] of owned)
      for (const no of owners) if (!this.has(no)) yield `${what} without a page: ${no}`;
  }

  /** Labels of all chunks, ascending. */
  labels(): number[] {
    const labels = new Set<number>();
    for (const { first_label, chunk_count } of this.all())
      for (let ordinal = 0; ordinal < chunk_count; ordinal++) labels.add(first_label + ordinal);
    return [...labels].sort((a, b) => a - b);
  }
}

interface VectorAudit {
  findings: string[];
  /** By id of a ready model, ascending: labels with a nonzero vector. */
  vectorLabels: Map<string, number[]>;
  /** By id of a ready model: first labels of pages with a page vector. */
  pageLabels: Map<string, number[]>;
  /** Chunks that a model's provider refuses to embed. */
  refused: number;
}

interface VectorAuditParts {
  pages: PageReader;
  jobs: JobReader;
  models: ModelReader;
  backfills: BackfillAuditor;
  refusedTexts: RefusedTextReader;
  /** Whether the page was forgotten and its remaining data waits for the purge. */
  awaitsPurge: (pageNo: number) => boolean;
}

class VectorAuditor extends VectorReader {
  /** Each chunk has one vector per model (zero if refused), unless a gap is noted or the backfill is not there yet. */
  audit({ pages, models, backfills, refusedTexts, awaitsPurge }: VectorAuditParts): VectorAudit {
    const audit: VectorAudit = { findings: [], vectorLabels: new Map(), pageLabels: new Map(), refused: 0 };
    const all = models.all();
    for (const model of all) {
      const { id, space } = model;
      const labels: number[] = [];
      const firstLabels: number[] = [];
      for (const page of pages.all()) {
        const rows = this.get(space, page.no) ?? new Float32Array(0);
        const problem = this.#problemOf(model, page, rows.length, backfills);
        if (problem !== null) audit.findings.push(`page ${page.no} ${problem}`);
        if (model.status !== 'ready') continue;
        if (!rows.every(Number.isFinite))
          audit.findings.push(`page ${page.no} has vectors of ${id} that are not numbers`);
        labels.push(...filledLabels(page, rows, model.dim));
        const isWhole = rows.length > 0 && rows.length === page.chunk_count * model.dim;
        if (isWhole && !backfills.isBegun(space, page.no) && meanPageVector(rows, model.dim) !== null)
          firstLabels.push(page.first_label);
      }
      for (const no of this.pageNumbers(space)) {
        if (pages.get(no) === undefined && !awaitsPurge(no))
          audit.findings.push(`vectors of ${id} without a page: ${no}`);
      }
      if (model.status !== 'ready') continue;
      audit.vectorLabels.set(id, ascending(labels));
      audit.pageLabels.set(id, ascending(firstLabels));
    }
    for (const [space, no, texts] of refusedTexts.all()) {
      const model = all.find((each) => each.space === space);
      audit.refused += texts.ordinals.length;
      if (model === undefined) {
        if (!models.droppedSpaces().includes(space))
          audit.findings.push(`refused texts without a model: space ${space}`);
      } else if (!areRefused(texts, this.get(space, no), model.dim)) {
        audit.findings.push(`page ${no} has vectors of ${model.id} for refused texts, or no vectors`);
      }
    }
    const known = new Set([...all.map(({ space }) => space), ...models.droppedSpaces()]);
    for (const space of this.spaces()) {
      if (!known.has(space)) audit.findings.push(`vectors of a missing model: space ${space}`);
    }
    return audit;
  }

  #problemOf(
    { id, space, dim, status }: EmbeddingModel,
    { no, chunk_count }: { no: number; chunk_count: number },
    numbers: number,
    backfills: BackfillReader,
  ): string | null {
    if (numbers > 0 && backfills.hasGap(space, no) && !backfills.isBegun(space, no))
      return `has vectors of ${id}, and a gap`;
    if (numbers === chunk_count * dim) return null;
    const problem = `has ${numbers / dim} vectors of ${id} for ${chunk_count} chunks`;
    if (numbers > 0 || backfills.isBegun(space, no)) return problem;
    if (!takesPages({ status })) return null;
    const backfill = backfills.get(space);
    const isAhead = backfill?.status === 'running' && no > backfill.cursor && no <= backfill.last_page;
    return backfills.hasGap(space, no) || (status === 'backfilling' && isAhead) ? null : problem;
  }
}

class BackfillAuditor extends BackfillReader {
  /** Every backfill and every gap belongs to a model, and a job works on it. */
  *audit({ pages, jobs, models, awaitsPurge }: Omit<VectorAuditParts, 'backfills'>): Generator<string> {
    const bySpace = new Map(models.all().map((model) => [model.space, model]));
    const dropped = new Set(models.droppedSpaces());
    for (const space of dropped) {
      const model = bySpace.get(space);
      if (model !== undefined) yield `the space of ${model.id} is marked for deletion`;
    }
    for (const backfill of this.all()) {
      const model = bySpace.get(backfill.space);
      if (model?.id !== backfill.model_id) yield `backfill of a missing model: ${backfill.model_id}`;
      if (this.byJob.get(backfill.job_no) !== backfill.space) {
        yield `the backfill of ${backfill.model_id} is not found by its job`;
      }
      if (backfill.status === 'running' && !isInFlight(jobs.get(backfill.job_no))) {
        yield `the backfill of ${backfill.model_id} runs without a job`;
      }
    }
    for (const { id, space, status } of bySpace.values()) {
      const backfill = this.get(space);
      if (status === 'backfilling' && backfill?.status !== 'running') yield `${id} has no backfill`;
      if (status === 'registered' && backfill !== undefined) yield `${id} has a backfill, but its status shows none`;
    }
    for (const [space, no] of [...this.untouched.getKeys(), ...this.begun.getKeys()]) {
      const model = bySpace.get(space);
      if (model === undefined) {
        if (!dropped.has(space)) yield `gap of a missing model: page ${no} in space ${space}`;
      } else if (!pages.has(no)) {
        if (!awaitsPurge(no)) yield `gap of a missing page: ${no} in the space of ${model.id}`;
      } else if (this.get(space)?.status === 'complete') {
        yield `page ${no} has a gap that no backfill of ${model.id} will fill`;
      }
    }
  }

  /** Number of gaps, one for each page and model. */
  waiting({ pages, models }: Pick<VectorAuditParts, 'pages' | 'models'>): number {
    const spaces = new Set(models.all().map(({ space }) => space));
    const gaps = [...this.untouched.getKeys(), ...this.begun.getKeys()];
    return gaps.filter(([space, no]) => spaces.has(space) && pages.has(no)).length;
  }
}

/** Labels of a page's rows that are not all zeros. */
function filledLabels(page: { first_label: number; chunk_count: number }, rows: Float32Array, dim: number): number[] {
  return Array.from({ length: page.chunk_count }, (_, row) => row)
    .filter((row) => rows.subarray(row * dim, (row + 1) * dim).some((x) => x !== 0))
    .map((row) => page.first_label + row);
}

function ascending(numbers: number[]): number[] {
  return numbers.sort((a, b) => a - b);
}

/** The audit of vectors, gaps and backfills: each space against the pages and against the registry. Only reads. */
import { meanPageVector } from '../compute/embedding/pool-vectors.ts';
import { isInFlight } from '../domain/job.ts';
import { type EmbeddingModel, takesPages } from '../domain/model.ts';
import { BackfillReader } from './backfills.ts';
import type { JobReader } from './jobs.ts';
import type { ModelReader } from './models.ts';
import type { PageReader } from './pages.ts';
import { areRefused, type RefusedTextReader, VectorReader } from './vectors.ts';

interface VectorAudit {
  findings: string[];
  /** Per id of a ready model, the labels whose vector is not all zeros: the ones that its space holds; ascending. */
  vectorLabels: Map<string, number[]>;
  /** Per id of a ready model, the first labels of pages with a page vector. */
  pageLabels: Map<string, number[]>;
  /** Chunks that a model's provider refuses to embed. */
  refused: number;
}

/** Records that the audit compares vectors and backfills with. */
export interface VectorAuditParts {
  pages: PageReader;
  jobs: JobReader;
  models: ModelReader;
  backfills: BackfillAuditor;
  refusedTexts: RefusedTextReader;
  /** Whether a page was forgotten and what is left of it waits for its purge. */
  awaitsPurge: (pageNo: number) => boolean;
}

export class VectorAuditor extends VectorReader {
  /**
   * In the space of every model each chunk has one vector, and nothing else has. A page may lack its vectors where a gap is noted (some of them where it is
   * begun: their rows are zeros), or where the sweep of the model's backfill has not come by yet; the vector of a chunk that was refused is zero.
   */
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
          audit.findings.push(`page ${page.no} has vectors of ${id} that are no numbers`);
        labels.push(...filledLabels(page, rows, model.dim));
        const isWhole = rows.length > 0 && rows.length === page.chunk_count * model.dim;
        if (isWhole && !backfills.isBegun(space, page.no) && meanPageVector(rows, model.dim) !== null)
          firstLabels.push(page.first_label);
      }
      for (const no of this.pageNumbers(space)) {
        if (pages.get(no) === undefined && !awaitsPurge(no)) audit.findings.push(`vectors of ${id} of no page: ${no}`);
      }
      if (model.status !== 'ready') continue;
      audit.vectorLabels.set(id, ascending(labels));
      audit.pageLabels.set(id, ascending(firstLabels));
    }
    for (const [space, no, texts] of refusedTexts.all()) {
      const model = all.find((each) => each.space === space);
      audit.refused += texts.ordinals.length;
      if (model === undefined) {
        if (!models.droppedSpaces().includes(space)) audit.findings.push(`refused texts of no model: space ${space}`);
      } else if (!areRefused(texts, this.get(space, no), model.dim)) {
        audit.findings.push(`page ${no} has vectors of ${model.id} for refused texts, or none at all`);
      }
    }
    const known = new Set([...all.map(({ space }) => space), ...models.droppedSpaces()]);
    for (const space of this.spaces()) {
      if (!known.has(space)) audit.findings.push(`vectors of no model: space ${space}`);
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

export class BackfillAuditor extends BackfillReader {
  /** Every backfill and every gap is of a model, and somebody works on it. */
  *audit({ pages, jobs, models, awaitsPurge }: Omit<VectorAuditParts, 'backfills'>): Generator<string> {
    const bySpace = new Map(models.all().map((model) => [model.space, model]));
    const dropped = new Set(models.droppedSpaces());
    for (const space of dropped) {
      const model = bySpace.get(space);
      if (model !== undefined) yield `the space of ${model.id} is noted as one to be emptied`;
    }
    for (const backfill of this.all()) {
      const model = bySpace.get(backfill.space);
      if (model?.id !== backfill.model_id) yield `backfill of no model: ${backfill.model_id}`;
      if (this.byJob.get(backfill.job_no) !== backfill.space) {
        yield `the backfill of ${backfill.model_id} is not found by its job`;
      }
      if (backfill.status === 'running' && !isInFlight(jobs.get(backfill.job_no))) {
        yield `the backfill of ${backfill.model_id} runs without a job`;
      }
    }
    for (const { id, space, status } of bySpace.values()) {
      const backfill = this.get(space);
      if (status === 'backfilling' && backfill?.status !== 'running') yield `${id} is filled by no backfill`;
      if (status === 'registered' && backfill !== undefined) yield `${id} has a backfill and no status of one`;
    }
    for (const [space, no] of [...this.untouched.getKeys(), ...this.begun.getKeys()]) {
      const model = bySpace.get(space);
      if (model === undefined) {
        if (!dropped.has(space)) yield `gap of no model: page ${no} in space ${space}`;
      } else if (!pages.has(no)) {
        if (!awaitsPurge(no)) yield `gap of no page: ${no} in the space of ${model.id}`;
      } else if (this.get(space)?.status === 'complete') {
        yield `page ${no} has a gap that no backfill of ${model.id} is going to fill`;
      }
    }
  }

  /** Gaps of pages: one for each page and model. */
  waiting({ pages, models }: Pick<VectorAuditParts, 'pages' | 'models'>): number {
    const spaces = new Set(models.all().map(({ space }) => space));
    const gaps = [...this.untouched.getKeys(), ...this.begun.getKeys()];
    return gaps.filter(([space, no]) => spaces.has(space) && pages.has(no)).length;
  }
}

/** The labels of a page's rows that are not all zeros. */
function filledLabels(page: { first_label: number; chunk_count: number }, rows: Float32Array, dim: number): number[] {
  return Array.from({ length: page.chunk_count }, (_, row) => row)
    .filter((row) => rows.subarray(row * dim, (row + 1) * dim).some((x) => x !== 0))
    .map((row) => page.first_label + row);
}

function ascending(numbers: number[]): number[] {
  return numbers.sort((a, b) => a - b);
}

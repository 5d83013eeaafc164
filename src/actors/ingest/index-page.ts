/**
 * The handler of `index_page` jobs. Idempotent: new content gets new labels and replaces that of earlier attempts.
 * Pages without text share steps 1 to 3. The new text of an own file replaces the stored one in step 2. A `facts_job`
 * gives stored chunks and vectors new labels and a new segment.
 *
 * 1. chunk texts and build a segment on a thread; get vectors of outside models; note a gap for the built-in one
 * 2. commit chunks and vectors, allocating labels
 * 3. add them to both sides of the index and remove what they replace
 * 4. the job's completion marks the page `indexed`, and queues the reading of its entities if enabled
 */
import { commitPages, type Replacement } from '../../commands/commit-content.ts';
import { relabelPage } from '../../commands/edit-pages.ts';
import { type Attempt, ownsJob } from '../../commands/move-job.ts';
import { queueExtraction } from '../../commands/page-entities.ts';
import { embeddingTexts } from '../../compute/embedding/embedding-text.ts';
import { bylineOf } from '../../compute/text/byline.ts';
import { authorText, factsText } from '../../compute/text/facts-text.ts';
import { JobError } from '../../domain/errors.ts';
import { type EmbeddingModel, isOutside, takesPages } from '../../domain/model.ts';
import type { Page } from '../../domain/page.ts';
import { noFacts } from '../../domain/page-facts.ts';
import type { ChunkedText, PageText, PreparedPages } from '../../engine/prepare-page.ts';
import { Deadline, systemClock } from '../../providers/clock.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';
import { chunkedTextOf } from '../indexes/recover-index.ts';
import type { CalibrateOutside } from '../models/model-embedder.ts';
import { type JobHandler, takenOver } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';
import { type BatchedPage, PageBatches } from './page-batches.ts';

interface PageIndexerDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'commit'> {
  prepare: (pages: readonly PageText[], signal: AbortSignal) => Promise<PreparedPages>;
  threads: number;
  embedders: Embedders;
  calibrate: CalibrateOutside;
}

interface PageToIndex extends BatchedPage {
  page: Page;
  /** The job that indexes the page's text; null for a bare chunk. */
  attempt: Attempt | null;
  /** New text that replaces the stored one. */
  replacement?: Replacement | undefined;
}

/** Steps 1 to 3. Errors: `takenOver` for a lost claim; of text, thread, store, index, provider; the signal's reason. */
export type PageIndexer = (page: PageToIndex) => Promise<void>;

/** Chunks and segment of a batch, and vector rows by space. */
interface EmbeddedPages extends PreparedPages {
  /** Outside models that accepted pages when the batch began. */
  models: readonly EmbeddingModel[];
  vectors: ReadonlyMap<number, Float32Array>;
}

/** Max wait of pages for an inactive model, ms. */
const patienceMs = 5000;

export function pageIndexer(dependencies: PageIndexerDependencies): PageIndexer {
  const { ask, reader, commit, prepare, threads, embedders } = dependencies;
  const prepareBatch = async (
    pages: readonly PageToIndex[],
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<EmbeddedPages> => {
    const models = reader.models.all().filter((model) => isOutside(model) && takesPages(model));
    const prepared = await prepare(
      pages.map(({ page, replacement }, place) => ({
        title: page.title,
        facts: factsText(page),
        author: authorText(page),
        address: page.canonical_url,
        declared: bylineOf(page).declared_language,
        text: texts[place],
        sections: replacement?.sections ?? reader.pages.sections(page.no),
      })),
      signal,
    );
    return { ...prepared, models, vectors: new Map() };
  };
  const vectorsOutside = outsideVectors(dependencies);
  const embedOutside = async (
    pages: readonly PageToIndex[],
    texts: readonly string[],
    prepared: EmbeddedPages,
    signal: AbortSignal,
  ): Promise<EmbeddedPages> => {
    if (prepared.models.length === 0) return prepared;
    const passages = pages.flatMap(({ page }, at) => embeddingTexts(page.title, texts[at], prepared.chunks[at]));
    return { ...prepared, vectors: await vectorsOutside(prepared.models, passages, signal) };
  };
  const refuseWhileDown = () => {
    const model = reader.models.activeModel();
    if (model === undefined || !isOutside(model)) return;
    const waitMs = embedders.breakerOf(model).waitMs();
    if (waitMs > 0) throw new BreakerOpenError(model.provider, waitMs);
  };
  const batches = new PageBatches<PageToIndex, EmbeddedPages>({
    threads,
    prepare: prepareBatch,
    embed: embedOutside,
    mayBeOnePage,
    finish: async (pages, { chunks, languages, wordCounts, models, vectors, segment }) => {
      let row = 0;
      const contents = pages.map(({ page, attempt, replacement }, place) => {
        const from = row;
        row += chunks[place].length;
        const ofPage = models.flatMap(({ space, dim }): [number, Float32Array][] => {
          const rows = vectors.get(space);
          return rows === undefined ? [] : [[space, rows.subarray(from * dim, row * dim)]];
        });
        const decided = { ...languages[place], word_count: wordCounts[place], facts: factsText(page) };
        const content = { page_no: page.no, replacement, chunks: chunks[place], vectors: new Map(ofPage), ...decided };
        return { attempt, content };
      });
      const { stored, ...labels } = await commit(commitPages(contents));
      await ask('index.add', { segment, vectors, ...labels });
      return stored.map((isStored, place) => (isStored || pages[place].attempt === null ? null : takenOver()));
    },
  });
  return async (page) => {
    refuseWhileDown();
    await batches.index(page);
  };
}

interface IndexPageDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'commit'> {
  index: PageIndexer;
  segmentOfChunks: (text: ChunkedText, signal: AbortSignal) => Promise<SharedArrayBuffer>;
  readEntities: boolean;
}

export function indexPageHandler(dependencies: IndexPageDependencies): JobHandler {
  const { ask, reader, commit, index, segmentOfChunks, readEntities } = dependencies;
  /** False if the page has other chunks by now. Searches use its old labels until the index has the new ones. */
  const relabel = async (attempt: Attempt, page: Page, segment: SharedArrayBuffer): Promise<boolean> => {
    const taken = await commit(relabelPage(attempt, page, null));
    if (taken === null) return false;
    const [labels] = taken.pages;
    try {
      await ask('index.add', { segment, ...taken });
      const given = await commit(relabelPage(attempt, page, labels));
      if (given !== null) await ask('index.add', { segment: null, ...given });
      return given !== null;
    } finally {
      const now = reader.pages.head(page.no);
      if (now?.first_label !== labels.first) await ask('index.remove', { pages: [labels] });
      // Files may contain words of a page that was forgotten meanwhile.
      if (now === undefined) await commit(relabelPage(attempt, page, labels));
    }
  };
  return async (job, { attempt, signal }) => {
    const page = job.page_no === null ? undefined : reader.pages.get(job.page_no);
    if (page === undefined) throw noText();
    if (page.index_job !== job.no) {
      let read: Page | undefined = page;
      // Facts that changed meanwhile belong to a later job.
      while (read?.facts_job === job.no && read.chunk_count > 0) {
        const segment = await segmentOfChunks(chunkedTextOf(reader, read), signal);
        if ((await relabel(attempt, read, segment)) || !ownsJob(reader, attempt)) return undefined;
        read = reader.pages.get(page.no); // an earlier job may have changed the labels
      }
      return undefined;
    }
    const newText = reader.pages.newText(page.no);
    const known = { page_no: page.no, final: page, title: null, facts: noFacts, readEntities };
    const replacement = newText && { ...newText, ...known };
    const readText = () => {
      const text = newText?.body ?? reader.pages.body(page.no);
      if (text === undefined) throw noText();
      return text;
    };
    await index({ page, attempt, signal, replacement, readText });
    return (transaction) => queueExtraction(transaction, page.no, readEntities);
  };
}

/** A provider that is down or refuses its key fails every page, so do not retry them one by one. */
function mayBeOnePage(error: unknown): boolean {
  return !(error instanceof BreakerOpenError) && !(error instanceof ProviderError && !error.mayBeOneText);
}

function noText(): JobError {
  return new JobError('the page has no text', { permanent: true });
}

/* Vectors of outside models. A page waits for the active model, and briefly for others, which then get a gap. */

class TooLate extends Error {}

/** Returns rows by space; none for a model with a gap. Errors: of the active model's provider; the signal's reason. */
function outsideVectors({
  embedders,
  reader,
  calibrate,
}: Pick<PageIndexerDependencies, 'embedders' | 'reader' | 'calibrate'>) {
  /** Spaces of slow models: not called again until their backfills have closed the gaps. */
  const late = new Set<number>();

  const isLeftToBackfill = ({ space }: EmbeddingModel): boolean => {
    if (reader.backfills.get(space)?.status === 'failed') return true;
    if (late.has(space) && reader.backfills.gaps(space, 1).length === 0) late.delete(space);
    return late.has(space);
  };

  const rowsOf = async (model: EmbeddingModel, passages: readonly string[], signal: AbortSignal) => {
    await calibrate(model, signal);
    return embedders.documentVectors(model, passages, signal);
  };

  const rowsInTime = async (
    model: EmbeddingModel,
    passages: readonly string[],
    signal: AbortSignal,
  ): Promise<Float32Array | null> => {
    if (isLeftToBackfill(model)) return null;
    try {
      const tooLate = new TooLate(`no vectors within ${patienceMs} ms`);
      return await new Deadline(systemClock, patienceMs, signal, tooLate).run((limited) =>
        rowsOf(model, passages, limited),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TooLate) late.add(model.space);
      else if (!(error instanceof BreakerOpenError || error instanceof ProviderError)) throw error;
      return null;
    }
  };

  return async (
    models: readonly EmbeddingModel[],
    passages: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, Float32Array>> => {
    const rows = await Promise.all(
      models.filter(isOutside).map(async (model) => {
        const isActive = model.id === reader.models.activeId();
        return [model.space, await (isActive ? rowsOf : rowsInTime)(model, passages, signal)] as const;
      }),
    );
    return new Map(rows.flatMap(([space, found]) => (found === null ? [] : [[space, found] as const])));
  };
}

/**
 * The handler of `index_page` jobs: a stored text becomes searchable. Safe to run again at any point: new content gets new
 * labels and replaces what an earlier attempt left. Pages that wait at the same time go through steps 1 to 3 together, and so do pages
 * that have no text, for what else is known of them (bare-pages.ts).
 *
 * 1. chunk and embed the texts and build a segment on a work thread; after that outside models are asked for their vectors
 * 2. commit chunks and vectors; labels are allocated there
 * 3. both sides of the index take them in and let go of what they replace
 * 4. the job's completion makes the page `indexed` and queues the reading of its entities, where they are read
 */
import { commitPages } from '../../commands/commit-pages.ts';
import { queueExtraction, sweepAgain } from '../../commands/page-entities.ts';
import type { Attempt } from '../../commands/settle-job.ts';
import { embeddingTexts } from '../../compute/embedding/embedding-text.ts';
import { bylineOf } from '../../compute/text/byline.ts';
import { authorText, factsText } from '../../compute/text/facts-text.ts';
import { languageOfTag, languageTag } from '../../compute/text/language-tags.ts';
import { JobError } from '../../domain/errors.ts';
import { type EmbeddingModel, isOutside, localDim, takesPages } from '../../domain/model.ts';
import type { Chunk, Page } from '../../domain/page.ts';
import type { PageText, PreparedPages } from '../../engine/prepare-page.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';
import type { StoreReader } from '../../store/store.ts';
import { type JobHandler, takenOver } from '../jobs/job-actor.ts';
import { floorCalibrator } from '../models/calibrate-outside.ts';
import { commitThrough, type SystemAsk } from '../system/system-messages.ts';
import { outsideVectors } from './outside-vectors.ts';
import { type BatchedPage, PageBatches } from './page-batches.ts';

export interface PageIndexerDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  /** `dims`: the embedded models whose vectors are wanted. */
  prepare: (pages: readonly PageText[], dims: readonly number[], signal: AbortSignal) => Promise<PreparedPages>;
  /** Work threads that prepare. */
  threads: number;
  embedders: Embedders;
}

export interface PageToIndex extends BatchedPage {
  page: Page;
  /** Of the job that indexes its text; null for a page whose bare chunk is made. */
  attempt: Attempt | null;
}

/**
 * Make a page searchable: steps 1 to 3. Errors: `takenOver` where the attempt no longer owns its job; of its text, the thread, the store,
 * the index and the active model's provider; the signal's reason.
 */
export type PageIndexer = (page: PageToIndex) => Promise<void>;

/** What indexing makes of a batch: chunks and segment, and rows of all chunks by vector space. */
interface EmbeddedPages {
  chunks: Chunk[][];
  segment: SharedArrayBuffer;
  languages: (string | null)[];
  wordCounts: number[];
  /** Of models that took pages when the batch was begun. */
  models: readonly EmbeddingModel[];
  vectors: ReadonlyMap<number, Float32Array>;
}

/** Pages wait so long, ms, for a model that is not the active one. */
const outsidePatienceMs = 5000;

export function pageIndexer(dependencies: PageIndexerDependencies): PageIndexer {
  const { ask, reader, prepare, threads, embedders } = dependencies;
  const commit = commitThrough(ask);
  const prepareBatch = async (
    pages: readonly PageToIndex[],
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<EmbeddedPages> => {
    const models = reader.models.all().filter(takesPages);
    const dims = [...new Set(models.flatMap((model) => localDim(model) ?? []))];
    const { vectors, ...prepared } = await prepare(
      pages.map(({ page }, place) => ({
        title: page.title,
        facts: factsText(page),
        author: authorText(page),
        lang: languageOfTag(page.metadata?.lang),
        text: texts[place],
        sections: reader.pages.sections(page.no),
      })),
      dims,
      signal,
    );
    const rowsOf = (model: EmbeddingModel): [number, Float32Array][] => {
      const dim = localDim(model);
      const rows = dim === null ? undefined : vectors.get(dim);
      return rows === undefined ? [] : [[model.space, rows]];
    };
    const languages = pages.map(({ page }, place) =>
      languageTag(
        bylineOf(page.metadata).declared_language,
        prepared.wordCounts[place] === 0 ? '' : prepared.languages[place],
      ),
    );
    return { ...prepared, languages, models, vectors: new Map(models.flatMap(rowsOf)) };
  };
  const vectorsOutside = outsideVectors({
    embedders,
    reader,
    calibrate: floorCalibrator({ embedders, reader, commit }),
    patienceMs: outsidePatienceMs,
  });
  const embedOutside = async (
    pages: readonly PageToIndex[],
    texts: readonly string[],
    { vectors, ...prepared }: EmbeddedPages,
    signal: AbortSignal,
  ): Promise<EmbeddedPages> => {
    if (!prepared.models.some(isOutside)) return { vectors, ...prepared };
    const passages = pages.flatMap(({ page }, at) => embeddingTexts(page.title, texts[at], prepared.chunks[at]));
    const outside = await vectorsOutside(prepared.models, passages, signal);
    return { ...prepared, vectors: new Map([...vectors, ...outside]) };
  };
  /** An attempt that would be refused in the end is not begun. */
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
      const contents = pages.map(({ page, attempt }, place) => {
        const from = row;
        row += chunks[place].length;
        const ofPage = models.flatMap(({ space, dim }): [number, Float32Array][] => {
          const rows = vectors.get(space);
          return rows === undefined ? [] : [[space, rows.subarray(from * dim, row * dim)]];
        });
        const [language, word_count] = [languages[place], wordCounts[place]];
        const content = { page_no: page.no, chunks: chunks[place], vectors: new Map(ofPage), language, word_count };
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

export interface IndexPageDependencies {
  reader: StoreReader;
  index: PageIndexer;
  /** Whether pages are read for entities. */
  readEntities: boolean;
}

export function indexPageHandler({ reader, index, readEntities }: IndexPageDependencies): JobHandler {
  return async (job, { attempt, signal }) => {
    const page = job.page_no === null ? undefined : reader.pages.get(job.page_no);
    if (page === undefined) throw noText();
    const readText = () => {
      const text = reader.pages.body(page.no);
      if (text === undefined) throw noText();
      return text;
    };
    await index({ page, attempt, signal, readText });
    return (transaction) => (readEntities ? queueExtraction(transaction, page.no) : sweepAgain(transaction));
  };
}

/** That a provider is down or refuses its key is no page's fault: asking again for each page would only add to it. */
function mayBeOnePage(error: unknown): boolean {
  return !(error instanceof BreakerOpenError) && !(error instanceof ProviderError && !error.mayBeOneText);
}

function noText(): JobError {
  return new JobError('the page has no text', { permanent: true });
}

/**
 * Learns how much a model's vectors count beside the words when both are fused, from the library itself: pages are asked for by what is
 * in them (compute/ranking/pseudo-queries.ts), in each language that the queries turn out to be in. Again when the library has grown by a third.
 * A model that was not learned yet counts nothing against words.
 */
import type { Logger } from 'pino';
import { setModelFusion } from '../../commands/set-model-floor.ts';
import { type KnownItem, learnWeight } from '../../compute/ranking/fuse-scores.ts';
import { seededRandom } from '../../compute/seeded-random.ts';
import { learningQueries } from '../../domain/evaluation.ts';
import { type EmbeddingModel, isOutside } from '../../domain/model.ts';
import { defaultRrfK } from '../../domain/search.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';
import type { StoreReader } from '../../store/store.ts';
import { pageFiltersOf } from '../search/rank-query.ts';
import type { CommitCommand, SystemAsk } from '../system/system-messages.ts';
import { embedApart } from './embed-apart.ts';
import { queryOfPage } from './page-queries.ts';

export interface FusionLearning {
  ask: SystemAsk;
  reader: StoreReader;
  commit: CommitCommand;
  embedders: Pick<Embedders, 'queryVectors'>;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
}

/** A page, and a query that is to find it. */
interface PageQuery {
  page_no: number;
  query: string;
}

/** Pages that are looked at for a query, at most. */
const triesEach = 4;
/** Of them in one call to an outside model: ten calls in all, also where a provider counts calls by the minute. */
const askedTogether = 32;
/** Of the queries so many may be refused. */
const mostRefused = 30;
/** With fewer pages there is little to confuse. */
const fewestPages = 50;
/** Learned anew at so many times the pages. */
const growth = 4 / 3;
/** As many of each side as a search takes by default. */
const candidates = 100;
/** After a try that failed the next waits so long, twice as long each time, at most a day: providers may be paid by the query. */
const firstPauseMs = 60_000;
const longestPauseMs = 86_400_000;

/** Whether the weights of a model are to be learned: never learned, or from a library that has grown by a third. */
export function isLearningDue({ status, fusion }: EmbeddingModel, pages: number): boolean {
  return status === 'ready' && pages >= Math.max(fewestPages, growth * (fusion?.pages ?? 0));
}

/** Queries of the library's own, each with its page, some at a time: the same for the same pages and seed. */
function* pageQueries(reader: StoreReader, seed: number): Generator<PageQuery[]> {
  const random = seededRandom(seed);
  const end = reader.counters.peek('page');
  let some: PageQuery[] = [];
  for (let tried = 0, made = 0; made < learningQueries && tried < triesEach * learningQueries; tried++) {
    const no = 1 + Math.floor(random() * (end - 1));
    const query = queryOfPage(reader, no, random);
    if (query === null) continue;
    made++;
    some.push({ page_no: no, query });
    if (some.length < askedTogether) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/**
 * Learn the weights of each model for which it is due; of outside models only of the active one. One that fails is tried again later, and does not
 * keep the others waiting.
 */
export function fusionLearning(dependencies: FusionLearning) {
  const { reader, log, now } = dependencies;
  const learn = fusionLearner(dependencies);
  /** Of models that could not be learned, by space. */
  const pauses = new Map<number, { ms: number; until: number }>();
  const isWanted = (model: EmbeddingModel) =>
    isLearningDue(model, reader.pages.count()) &&
    (!isOutside(model) || model.id === reader.models.activeId()) &&
    (pauses.get(model.space)?.until ?? 0) <= now();
  return async (signal: AbortSignal): Promise<void> => {
    for (const model of reader.models.all().filter(isWanted)) {
      const learned = await learn(model, signal).catch((error) => {
        if (!signal.aborted)
          log.warn({ err: error, model: model.id }, 'what a model is worth beside the words could not be learned');
        return false;
      });
      if (signal.aborted) return;
      const ms = Math.min(longestPauseMs, 2 * (pauses.get(model.space)?.ms ?? firstPauseMs / 2));
      if (learned) pauses.delete(model.space);
      else pauses.set(model.space, { ms, until: now() + ms });
    }
  };
}

/**
 * Learn a model's weights and store them. `goOn` is waited for before each few queries. False where its provider does not answer or refuses more queries
 * than it may, or where the signal ended it: nothing is stored then.
 * Errors: those of a search, of `goOn`.
 */
export function fusionLearner({ ask, reader, commit, embedders }: Omit<FusionLearning, 'log' | 'now'>) {
  return async (model: EmbeddingModel, signal: AbortSignal, goOn = async () => {}): Promise<boolean> => {
    const pages = reader.pages.count();
    const byLanguage = new Map<string, KnownItem[]>();
    let tolerated = mostRefused;

    /** The model's vector of each; undefined where a search makes it, null for one that its provider refuses; null for all: it does not answer. */
    const vectorsOf = async (some: readonly PageQuery[]): Promise<(Float32Array | null | undefined)[] | null> => {
      if (!isOutside(model)) return some.map(() => undefined);
      const texts = some.map(({ query }) => query);
      const embed = (part: readonly string[]) => embedders.queryVectors(model, part, signal);
      const { dim } = model;
      try {
        const { rows, refused } = await embedApart(texts, { dim, embed, tolerated });
        tolerated -= refused.size;
        return texts.map((_, at) => (refused.has(at) ? null : rows.subarray(at * dim, (at + 1) * dim)));
      } catch (error) {
        if (error instanceof ProviderError || error instanceof BreakerOpenError || signal.aborted) return null;
        throw error;
      }
    };

    for (const some of pageQueries(reader, model.space)) {
      await goOn();
      const vectors = await vectorsOf(some);
      if (vectors === null) return false;
      for (const [at, { page_no, query }] of some.entries()) {
        if (signal.aborted) return false;
        const vector = vectors[at];
        if (vector === null) continue;
        const found = await ask('index.retrieve', {
          query,
          ...(vector !== undefined && { vector }),
          candidates,
          filters: pageFiltersOf(null, reader),
          model: model.id,
          rerank: false,
          relevance: false,
          rrf_k: defaultRrfK,
          phrases: [],
          clauses: { must: [], mustNot: [] },
          prefix: false,
          background: true,
        });
        if (found.timing_ms.rebuilding === 1) return false;
        const { sparse, dense, pageOf, language } = found;
        const items = byLanguage.get(language) ?? [];
        byLanguage.set(language, items);
        items.push({ sparse, dense, pageOf: (label) => pageOf.get(label) ?? 0, page: page_no });
      }
    }
    const weights = [...byLanguage].map(([language, items]) => [language, learnWeight(items, model.floor)] as const);
    return commit(setModelFusion(model, { weights: Object.fromEntries(weights), pages }));
  };
}

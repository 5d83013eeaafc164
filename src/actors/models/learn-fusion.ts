/**
 * Learns how much a model's vectors count beside the words when both are fused, from the library itself: pages are asked for by what is
 * in them (compute/ranking/pseudo-queries.ts), in each language that the queries turn out to be in. Again when the library has grown by a third.
 * A model that was not learned yet counts nothing against words.
 */
import type { Logger } from 'pino';
import { setModelFusion } from '../../commands/set-model-floor.ts';
import { seededRandom } from '../../compute/clusters/seeded-random.ts';
import { type KnownItem, learnWeight } from '../../compute/ranking/fuse-scores.ts';
import { type EmbeddingModel, isOutside } from '../../domain/model.ts';
import { defaultRrfK } from '../../domain/search.ts';
import type { StoreReader } from '../../store/store.ts';
import { pageFiltersOf } from '../search/rank-query.ts';
import type { CommitCommand, SystemAsk } from '../system/system-messages.ts';
import { queryOfPage } from './page-queries.ts';

export interface FusionLearning {
  ask: SystemAsk;
  reader: StoreReader;
  commit: CommitCommand;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
}

/** A page, and a query that is to find it. */
interface PageQuery {
  page_no: number;
  query: string;
}

/** Queries that are asked: some seconds with the embedded model, a few thousand tokens of a provider. */
const asked = 300;
/** Pages that are looked at for a query, at most. */
const triesEach = 4;
/** Of the queries that many may stay without the model's answer. */
const mostUnanswered = 30;
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

/** Queries of the library's own, each with its page: the same for the same pages and seed. */
function* pageQueries(reader: StoreReader, count: number, seed: number): Generator<PageQuery> {
  const random = seededRandom(seed);
  const end = reader.counters.peek('page');
  for (let tried = 0, made = 0; made < count && tried < triesEach * count; tried++) {
    const no = 1 + Math.floor(random() * (end - 1));
    const query = queryOfPage(reader, no, random);
    if (query === null) continue;
    made++;
    yield { page_no: no, query };
  }
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
  return async (isStopping: () => boolean): Promise<void> => {
    for (const model of reader.models.all().filter(isWanted)) {
      const learned = await learn(model, isStopping).catch((error) => {
        log.warn({ err: error, model: model.id }, 'what a model is worth beside the words could not be learned');
        return false;
      });
      if (isStopping()) return;
      const ms = Math.min(longestPauseMs, 2 * (pauses.get(model.space)?.ms ?? firstPauseMs / 2));
      if (learned) pauses.delete(model.space);
      else pauses.set(model.space, { ms, until: now() + ms });
    }
  };
}

/**
 * Learn a model's weights and store them. False where the model left more queries unanswered than may be: nothing is stored then.
 * Errors: those of a search.
 */
export function fusionLearner({ ask, reader, commit }: Omit<FusionLearning, 'log' | 'now'>) {
  return async (model: EmbeddingModel, isStopping: () => boolean | Promise<boolean>): Promise<boolean> => {
    const pages = reader.pages.count();
    const byLanguage = new Map<string, KnownItem[]>();
    let unanswered = 0;
    for (const { page_no, query } of pageQueries(reader, asked, model.space)) {
      if (await isStopping()) return false;
      const found = await ask('index.retrieve', {
        query,
        candidates,
        filters: pageFiltersOf(null, reader),
        model: model.id,
        rerank: false,
        relevance: false,
        rrf_k: defaultRrfK,
        phrases: [],
        held: { all: [], none: [] },
        prefix: false,
        background: true,
      });
      if (found.timing_ms.rebuilding === 1) return false;
      if (found.timing_ms.degraded_dense === 1) {
        if (++unanswered > mostUnanswered) return false;
        continue;
      }
      const { sparse, dense, pageOf, language } = found;
      const items = byLanguage.get(language) ?? [];
      byLanguage.set(language, items);
      items.push({ sparse, dense, pageOf: (label) => pageOf.get(label) ?? 0, page: page_no });
    }
    const weights = [...byLanguage].map(([language, items]) => [language, learnWeight(items, model.floor)] as const);
    return commit(setModelFusion(model, { weights: Object.fromEntries(weights), pages }));
  };
}

/** The message handlers of the indexes service. A full queue answers as overloaded. */
import { DomainError } from '../../domain/errors.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import type { SparseIndex } from '../../engine/words/sparse-index.ts';
import { QueueFullError } from '../../threads/thread-pool.ts';
import { type MatchDependencies, pageMatcher } from '../search/match-pages.ts';
import type { RetrieveCandidates } from '../search/retrieve-candidates.ts';
import { Background } from '../system/background.ts';
import type { Handlers, LibraryParts, NearPagesRequest, SystemMessageName } from '../system/service.ts';
import { labelsOf } from './model-spaces.ts';
import type { NearRequest, PageSpace } from './page-space.ts';
import type { IndexCompleteness, StartRecovery } from './start-recovery.ts';

interface IndexHandlersOptions extends MatchDependencies {
  sparse: SparseIndex;
  recovery: StartRecovery;
  completeness: IndexCompleteness;
  idle: IdleDetector;
  retrieve: RetrieveCandidates;
}

export type IndexMessages = Extract<SystemMessageName, `index.${string}`>;

export function indexHandlers(options: IndexHandlersOptions): Handlers<IndexMessages> {
  const { reader, catalog, sparse, searchers, spaces, recovery, completeness, idle, retrieve } = options;
  /** Errors: DomainError `invalid` for a model with missing vectors, except the active model while it is refilled. */
  const searchableModel = (id: string): EmbeddingModel => {
    const model = reader.models.get(id);
    if (model?.status === 'ready' || (model !== undefined && id === reader.models.activeId())) return model;
    throw new DomainError('invalid', `the model ${id.slice(0, 64)} has no vectors here`);
  };
  /** `none` if there is no model. */
  const near = async <Reply>(
    { model: wanted, filters, anyScore = false }: Pick<NearPagesRequest, 'model' | 'filters' | 'anyScore'>,
    none: Reply,
    ask: (pages: PageSpace, among: Pick<NearRequest, 'allow' | 'minScore'>) => Promise<Reply>,
  ): Promise<Reply> => {
    const model = wanted === null ? reader.models.activeModel() : reader.models.get(wanted);
    if (model === undefined) return none;
    const allowed = catalog.allowed(filters);
    const allow = allowed === null ? {} : { allow: allowed.labels };
    const floor = model.floor === null || anyScore ? {} : { minScore: model.floor };
    return orOverloaded(() => spaces.use(model, ({ pages }) => ask(pages, { ...allow, ...floor })));
  };
  const matchPages = pageMatcher(options);
  return {
    'index.add': async ({ segment, vectors, pages, obsolete }) => {
      idle.changed();
      const labels = labelsOf(pages);
      const old = labelsOf(obsolete);
      // They may belong to no page yet.
      for (const { first, count } of pages) catalog.noteFlushed(first + count);
      if (old.length > 0) sparse.remove(old);
      await orOverloaded(async () => {
        await Promise.all([
          labels.length === 0 || segment === null ? undefined : sparse.add(segment, labels),
          spaces.update(pages, obsolete, vectors),
        ]);
      });
      return undefined;
    },
    'index.addVectors': async ({ model_id, space, chunks, rows, whole }) => {
      const model = reader.models.get(model_id);
      if (model?.space !== space) return undefined; // deleted meanwhile
      idle.changed();
      try {
        await orOverloaded(() => spaces.use(model, (opened) => opened.add(chunks, rows, whole)));
      } catch (error) {
        // Only some rows may have been added. The caller retries if the queue is full; otherwise the space is reloaded.
        if (!(error instanceof DomainError) && model.id !== reader.models.activeId()) spaces.forget(model.space);
        throw error;
      }
      return undefined;
    },
    'index.openSpace': async ({ model_id }) => {
      const model = reader.models.get(model_id);
      if (model === undefined) return undefined;
      await spaces.use(model, async () => {});
      return undefined;
    },
    'index.dropSpace': async ({ space }) => {
      await spaces.drop(space);
      return undefined;
    },
    'index.remove': async ({ pages }) => {
      idle.changed();
      sparse.remove(labelsOf(pages));
      await orOverloaded(() => spaces.update([], pages, new Map()));
      return undefined;
    },
    'index.recoveryReport': () => ({ dropped: recovery.dropped, setAside: recovery.lost }),
    'index.purge': async () => {
      await recovery.settled();
      await sparse.purge();
      await orOverloaded(() => spaces.purge());
      const { deletions, waiting } = sparse.stats();
      return { clean: deletions === 0 && waiting === 0 };
    },
    'index.retrieve': async (request, signal) => {
      idle.searched();
      const model = searchableModel(request.model);
      return orOverloaded(() => retrieve(request, model, signal));
    },
    'index.match': async (request, signal) => {
      idle.searched();
      const spelling = request.spelling && completeness.state().state === 'whole';
      return orOverloaded(() => matchPages({ ...request, spelling }, signal));
    },
    'index.nearPages': ({ filters, anyScore = false, ...request }, signal) =>
      near({ ...request, filters, anyScore }, [], (pages, among) => pages.near({ ...request, ...among, signal })),
    'index.relatedPages': ({ filters, ...request }, signal) =>
      near({ ...request, filters }, [], (pages, among) => pages.related({ ...request, ...among, signal })),
    'index.markPassages': (request, signal) => orOverloaded(() => searchers.mark(request, signal)),
    'index.pagesUnder': ({ domain }) => catalog.pagesUnder(domain),
    'index.domains': ({ beginning, limit }) => catalog.domainsBeginning(beginning, limit),
    'index.state': () => completeness.state(),
    'index.pagesWithoutChunks': () => catalog.pagesWithoutLabels(),
  };
}

async function orOverloaded<Reply>(work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    throw new DomainError('overloaded', 'too much work is waiting', { retryAfterS: 1, cause: error });
  }
}

/*
 * Maintains the index after a quiet time: merges small segments, saves if worthwhile, frees memory of threads. It does
 * not run during searches, which need the processor. A delay costs more segments per search and a longer recovery.
 */

/** Quiet time without changes and searches, ms. */
const idleMs = 5000;
/** Max delay by searches after the first change, ms. */
const patienceMs = 60_000;

type IdleDetector = ReturnType<typeof idleDetector>;

export function idleDetector(monotonic: () => number) {
  /** First and last change since maintenance; null: none. */
  let dueSince: number | null = null;
  let changedAt = 0;
  let searchedAt = Number.NEGATIVE_INFINITY;
  return {
    changed(): void {
      changedAt = monotonic();
      dueSince ??= changedAt;
    },
    searched(): void {
      searchedAt = monotonic();
    },
    /** Whether maintenance is due. If so, it is not due again before the next change. */
    take(): boolean {
      if (dueSince === null || monotonic() - changedAt < idleMs) return false;
      if (monotonic() - searchedAt < idleMs && monotonic() - dueSince < patienceMs) return false;
      dueSince = null;
      return true;
    },
    /** Make it due again after another quiet time. */
    again(): void {
      if (dueSince === null) this.changed();
    },
  };
}

type IndexMaintenanceOptions = Pick<LibraryParts, 'log'> &
  Pick<IndexHandlersOptions, 'reader' | 'sparse' | 'searchers' | 'spaces' | 'idle'>;

export function maintainIndex({ sparse, searchers, spaces, reader, idle, log }: IndexMaintenanceOptions): Background {
  const save = async () => {
    try {
      await Promise.all([sparse.consolidate(), spaces.saveIfWorthIt()]);
    } catch (error) {
      log.error({ err: error }, 'the index could not be saved: trying again');
      idle.again();
    }
  };
  const releaseMemory = async () => {
    try {
      // Idle work threads end on their own.
      await searchers.releaseMemory();
    } catch (error) {
      log.warn({ err: error }, 'the memory of a thread could not be released');
    }
  };
  const background = new Background(log);
  // If the store is unreadable, the library is closing.
  background.every(idleMs, 'the index could not be maintained', async () => {
    spaces.closeIdle(reader.models.activeModel()?.space ?? null);
    if (!idle.take()) return;
    await save();
    await releaseMemory();
  });
  return background;
}

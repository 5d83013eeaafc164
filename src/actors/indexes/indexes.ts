/**
 * The indexes: owns both sides of retrieval and the catalog, and the pinned threads that hold their state. When it says it is
 * ready, every chunk of an indexed page is searchable: what a crash left unsaved is waited for, however much it is. Only what
 * is missing because index files were lost is brought back beside the service (`rebuilding`, told with each search). The store
 * is the truth: at start, live labels that a side lacks are added to it again from the store's text and vectors, and labels
 * that it has beyond them are deleted.
 */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openWordVectors } from '../../compute/embedding/word-vectors.ts';
import { DomainError } from '../../domain/errors.ts';
import type { EmbeddingModel } from '../../domain/model.ts';
import { Catalog } from '../../index/catalog.ts';
import { labelsOf, type ModelSpace } from '../../index/model-space.ts';
import { ModelSpaces } from '../../index/model-spaces.ts';
import type { NearPage } from '../../index/page-space.ts';
import { IndexRecovery, recoverText } from '../../index/recover-index.ts';
import { Searchers } from '../../index/searchers.ts';
import { SparseIndex } from '../../index/sparse-index.ts';
import type { StoreReader } from '../../store/store.ts';
import type { SearchThreadData } from '../../threads/analyze-query.ts';
import { QueueFullError, type ThreadPool } from '../../threads/thread-pool.ts';
import type { AskQueryVector } from '../search/query-vector.ts';
import { retrieveCandidates } from '../search/retrieve-candidates.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import { type Handlers, serviceLogic } from '../system/service.ts';
import type { NearPagesRequest } from '../system/system-messages.ts';
import { tellProgress } from '../system/tell-progress.ts';
import { type IndexThreadsOptions, openIndexThreads } from './index-threads.ts';
import { quietMs, quietTime } from './quiet-time.ts';

export type WorkPool = ThreadPool<typeof import('../../threads/work-thread.ts')>;

export interface IndexesDependencies extends IndexThreadsOptions {
  /** Folder of the index files. */
  dir: string;
  storeId: string;
  reader: StoreReader;
  feed: CommitFeed;
  work: WorkPool;
  /** Gives queries their vectors by outside models. */
  askQueryVector: AskQueryVector;
  log: Logger;
  monotonic: () => number;
}

/** A file in the index folder while lost files are rebuilt: after a crash meanwhile the rest is still rebuilt beside the service. */
const rebuildingMark = 'rebuilding';
/** Chunks between two saves of the sparse side: bounds what a crash leaves to be modelled again. */
const saveEveryDocs = 2000;
type IndexMessages =
  | 'index.add'
  | 'index.addVectors'
  | 'index.openSpace'
  | 'index.dropSpace'
  | 'index.retrieve'
  | 'index.nearPages'
  | 'index.settled'
  | 'index.pagesUnder'
  | 'index.remove'
  | 'index.heldAtStart'
  | 'index.purge';

export function indexesLogic(dependencies: IndexesDependencies) {
  const { dir, storeId, reader, feed, work, askQueryVector, searchData, log, monotonic } = dependencies;

  /** Errors: DomainError `invalid` for a model whose vectors are not all there, unless it is the active one, which is being renewed. */
  const searchableModel = (id: string): EmbeddingModel => {
    const model = reader.models.get(id);
    if (model?.status === 'ready' || (model !== undefined && id === reader.models.activeId())) return model;
    throw new DomainError('invalid', `the model ${id.slice(0, 64)} has no vectors here`);
  };

  const start = async () => {
    const undo: (() => unknown)[] = [];
    try {
      return await open(undo);
    } catch (error) {
      for (const step of undo.reverse()) await step();
      throw error;
    }
  };

  /** Open everything; what has to be let go of again if that fails half way is noted in `undo`. */
  const open = async (undo: (() => unknown)[]) => {
    const catalog = new Catalog();
    const hideForgotten = () =>
      catalog.hide(reader.blacklist.purging().flatMap(({ kind, pattern }) => (kind === 'domain' ? [pattern] : [])));
    hideForgotten();
    for (const page of reader.pages.all()) catalog.apply(page);
    const unsubscribe = feed.subscribe('visible', ({ pages, removedPages, rules }) => {
      if (rules.length > 0) hideForgotten();
      for (const page of pages) catalog.apply(page);
      for (const no of removedPages) catalog.remove(no);
    });
    undo.push(unsubscribe);

    const threads = openIndexThreads(dependencies);
    const { searchers, shards } = threads;
    undo.push(threads.close);
    const spaces = new ModelSpaces({
      dir,
      storeId,
      reader,
      catalog,
      shards,
      log,
      monotonic,
      busy: () => work.load > 0,
    });
    await spaces.sweep(new Set(reader.models.all().map(({ space }) => space)));
    const active = reader.models.activeModel();
    const opened = await Promise.all([
      SparseIndex.open(
        {
          dir: join(dir, 'sparse'),
          storeId,
          searchers,
          worker: work,
          log,
          saveEveryDocs,
          vocabulary: vocabularyOf(searchData),
        },
        catalog.live(),
      ),
      active === undefined ? null : spaces.load(active),
      ...searchers.map((searcher) => searcher.run('warmUp', undefined)),
    ]);
    const sparse = opened[0].index;
    const first: ModelSpace | null = opened[1];

    const recovery = new IndexRecovery({
      reader,
      catalog,
      side: 'sparse',
      recoverPage: recoverText({
        reader,
        model: (text) => work.run('modelChunkedText', text),
        addSegment: (start, count, segment) => sparse.add(segment, labelsOf([{ first: start, count }])),
      }),
      log,
    });
    const stopRecovery = () => {
      recovery.stop();
      first?.stopRecovery();
    };
    undo.push(stopRecovery);
    const pending = () => recovery.pending + (first?.pending ?? 0);
    const recoverAll = async () => {
      const options = { leaveToJobs: true };
      const sides = [recovery.recover(opened[0].missing, options), first?.recover(first.missing, options)];
      return (await Promise.all(sides)).every((complete) => complete !== false);
    };
    const mark = join(dir, rebuildingMark);
    let rebuilding: Promise<void> = Promise.resolve();
    if (opened[0].lost || first?.lost === true || existsSync(mark)) {
      const counts = { sparse_chunks: opened[0].missing.length, dense_chunks: first?.missing.length ?? 0 };
      log.warn(counts, 'index files were lost: rebuilding them beside the service');
      await writeFile(mark, '', { mode: 0o600 }).catch((error) =>
        log.error({ err: error }, 'a start after a crash will wait for the rest of the rebuilding'),
      );
      rebuilding = rebuild(recoverAll, async () => {
        await Promise.all([sparse.save(), first?.chunks.save()]);
        await rm(mark, { force: true });
      }).catch((error) => log.error({ err: error }, 'the rebuilt index could not be saved'));
    } else {
      await tellProgress(
        () => log.info({ pages_left: pending() }, 'bringing back what was indexed and not saved'),
        recoverAll,
      );
    }

    const retrieve = retrieveCandidates({
      catalog,
      spaces,
      searchers: new Searchers(searchers, () => sparse.republish(), log),
      askQueryVector,
      isRebuilding: () => pending() > 0,
      log,
      monotonic,
    });

    /** In quiet times small segments are brought together, and what is worth it is saved. */
    const quiet = quietTime(monotonic);
    const tending = setInterval(() => {
      spaces.closeIdle(reader.models.activeModel()?.space ?? null);
      if (!quiet.take()) return;
      Promise.all([sparse.consolidate(), spaces.saveIfWorthIt()])
        .catch((error) => {
          log.error({ err: error }, 'the index could not be saved: it is tried again');
          quiet.again();
        })
        // One task for each work thread: it takes some tens of ms, so that none gets two.
        .then(() =>
          Promise.all(searchers.flatMap((searcher) => [searcher.run('tidy', undefined), work.run('tidy', undefined)])),
        )
        .catch((error) => log.warn({ err: error }, 'a thread could not be tidied'));
    }, quietMs);

    const handlers: Handlers<IndexMessages> = {
      'index.add': async ({ segment, vectors, pages, obsolete }) => {
        quiet.changed();
        const labels = labelsOf(pages);
        const old = labelsOf(obsolete);
        if (old.length > 0) sparse.remove(old);
        await orOverloaded(async () => {
          await Promise.all([
            labels.length === 0 ? undefined : sparse.add(segment, labels),
            spaces.update(pages, obsolete, vectors),
          ]);
        });
        return undefined;
      },
      'index.addVectors': async ({ model_id, space, pages, rows }) => {
        const model = reader.models.get(model_id);
        if (model?.space !== space) return undefined; // deleted meanwhile
        quiet.changed();
        try {
          await orOverloaded(() => spaces.use(model, (opened) => opened.add(pages, rows)));
        } catch (error) {
          // Part of them may be there. What was refused by a full queue is sent again; else the space is read anew from the store.
          if (!(error instanceof DomainError) && model.id !== reader.models.activeId()) spaces.forget(model.space);
          throw error;
        }
        return undefined;
      },
      'index.openSpace': async ({ model_id, save }) => {
        const model = reader.models.get(model_id);
        if (model === undefined) return undefined;
        await spaces.use(model, async ({ chunks, pages }) => {
          if (save) await Promise.all([chunks.save(), pages.save()]);
        });
        return undefined;
      },
      'index.dropSpace': async ({ space }) => {
        await spaces.drop(space);
        return undefined;
      },
      'index.pagesUnder': ({ domain }) => catalog.pagesUnder(domain),
      'index.remove': async ({ pages }) => {
        quiet.changed();
        sparse.remove(labelsOf(pages));
        await orOverloaded(() => spaces.update([], pages, new Map()));
        return undefined;
      },
      'index.heldAtStart': () => ({
        dropped: opened[0].dropped + (first?.dropped ?? 0),
        setAside: opened[0].lost || first?.lost === true,
      }),
      'index.purge': async () => {
        await Promise.all([recovery.settled(), rebuilding]);
        await sparse.purge();
        await orOverloaded(() => spaces.purge());
        const { deletions, waiting } = sparse.stats();
        return { clean: deletions === 0 && waiting === 0 };
      },
      'index.settled': async () => {
        await Promise.all([recovery.settled(), spaces.settled()]);
        return undefined;
      },
      'index.nearPages': async ({
        model: wanted,
        filters,
        anyScore,
        ...request
      }: NearPagesRequest): Promise<NearPage[]> => {
        const model = wanted === null ? reader.models.activeModel() : reader.models.get(wanted);
        if (model === undefined) return [];
        const allowed = catalog.allowed(filters);
        const allow = allowed === null ? {} : { allow: allowed.labels };
        const floor = model.floor === null || anyScore === true ? {} : { minScore: model.floor };
        return orOverloaded(() => spaces.use(model, ({ pages }) => pages.near({ ...request, ...allow, ...floor })));
      },
      'index.retrieve': async (request, signal) => {
        quiet.searched();
        const model = searchableModel(request.model);
        return orOverloaded(() => retrieve(request, model, signal));
      },
    };

    return {
      handlers,
      stop: async () => {
        unsubscribe();
        clearInterval(tending);
        stopRecovery();
        await Promise.all([recovery.settled(), rebuilding]);
        for (const closed of await Promise.allSettled([sparse.close(), spaces.close()])) {
          if (closed.status === 'fulfilled') continue;
          // A full disk, say: the next start brings back from the store what the files lack.
          log.error({ err: closed.reason }, 'the index could not be saved on closing');
        }
        await threads.close();
      },
    };
  };

  return serviceLogic<IndexMessages>('indexes', start);
}

/** Which word vectors the forward indexes are to have the rows of. */
function vocabularyOf({ wordVectors }: SearchThreadData): number | undefined {
  return wordVectors === null ? undefined : openWordVectors(wordVectors).fingerprint;
}

/** Bring lost files' content back; `keep` what there is then, if that is all of it. */
async function rebuild(recoverAll: () => Promise<boolean>, keep: () => Promise<void>): Promise<void> {
  if (await recoverAll()) await keep();
}

/** A full queue is an answer, not a bug. */
async function orOverloaded<Reply>(work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    throw new DomainError('overloaded', 'too much work is waiting', { retryAfterS: 1, cause: error });
  }
}

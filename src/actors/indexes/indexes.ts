/**
 * The indexes: owns both sides of retrieval and the catalog, and what pinned threads hold of them. When it says it is
 * ready, every chunk of an indexed page is searchable, but for what is missing because index files were lost (start-recovery.ts).
 * The store is the truth: at start, live labels that a side lacks are added to it again from the store's text and vectors, and
 * labels that it has beyond them are deleted.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openWordVectors } from '../../compute/embedding/word-vectors.ts';
import type { SearchThreadData } from '../../engine/analyze-query.ts';
import type { IndexThreads, WorkPool } from '../../engine/index-threads.ts';
import { SparseIndex } from '../../engine/words/sparse-index.ts';
import { HighWaterMark } from '../../index/high-water-mark.ts';
import { ModelSpaces } from '../../index/model-spaces.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitHistory } from '../../store/stored-rows.ts';
import type { AskQueryVector } from '../search/query-vector.ts';
import { retrieveCandidates } from '../search/retrieve-candidates.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import type { StartService } from '../system/service.ts';
import { indexCompleteness } from './index-completeness.ts';
import { type IndexMessages, indexHandlers } from './index-handlers.ts';
import { idleDetector, maintainIndex } from './index-maintenance.ts';
import { openLiveCatalog } from './live-catalog.ts';
import { StartRecovery, type StartRecoveryOptions } from './start-recovery.ts';

export interface IndexesDependencies {
  /** Folder of the index files. */
  dir: string;
  storeId: string;
  reader: StoreReader;
  feed: CommitFeed;
  work: WorkPool;
  threads: IndexThreads;
  /** What the searcher threads were given. */
  searchData: SearchThreadData;
  /** Gives queries their vectors by outside models. */
  askQueryVector: AskQueryVector;
  log: Logger;
  monotonic: () => number;
  /** Null where the store's own file is the only one. */
  history: CommitHistory | null;
  recoveryWaitMs?: StartRecoveryOptions['waitMs'];
  aroundRecovery?: StartRecoveryOptions['aroundRecovery'];
}

/** Chunks between two saves of the sparse side: bounds what a crash leaves to be built again. */
const saveEveryDocs = 2000;

export function indexesService(dependencies: IndexesDependencies): StartService<IndexMessages> {
  return async () => {
    const undo: (() => unknown)[] = [];
    try {
      return await open(dependencies, undo);
    } catch (error) {
      for (const step of undo.reverse()) {
        try {
          await step();
        } catch (also) {
          dependencies.log.warn({ err: also }, 'a part of the index could not be let go of');
        }
      }
      throw error;
    }
  };
}

/** Open everything; what has to be let go of again if that fails half way is noted in `undo`. */
async function open(dependencies: IndexesDependencies, undo: (() => unknown)[]) {
  const { dir, storeId, reader, feed, work, threads, searchData, askQueryVector } = dependencies;
  const { log, monotonic, history, aroundRecovery, recoveryWaitMs: waitMs } = dependencies;
  const { catalog, close: closeCatalog } = openLiveCatalog(reader, feed);
  undo.push(closeCatalog);
  const { namespace, searchers, shards } = threads;
  undo.push(threads.release);
  const mark = await HighWaterMark.open({ dir, nextLabel: reader.counters.peek('label'), history, log });
  const noteLabels = () => mark.raise(catalog.flushedEnd);
  const spaces = new ModelSpaces({
    dir,
    storeId,
    reader,
    catalog,
    shards,
    namespace,
    log,
    monotonic,
    noteLabels,
  });
  undo.push(() => spaces.close());
  await spaces.sweep(new Set(reader.models.all().map(({ space }) => space)));

  const active = reader.models.activeModel();
  const vocabulary = vocabularyOf(searchData);
  const files = { dir: join(dir, 'sparse'), storeId, worker: work, log, vocabulary, noteLabels };
  const sparseOptions = { ...files, searchers, namespace, saveEveryDocs };
  const sides = [
    SparseIndex.open(sparseOptions, catalog.live()).then((side) => {
      undo.push(() => side.index.close());
      return side;
    }),
    active === undefined ? null : spaces.load(active),
    ...searchers.map((searcher) => searcher.run('warmUp', undefined)),
  ] as const;
  await Promise.allSettled(sides); // where one fails the other is open, too, or will never be
  const [opened, dense] = await Promise.all(sides);
  const sparse = opened.index;
  const recovery = new StartRecovery({
    dir,
    reader,
    catalog,
    work,
    sparse: opened,
    dense,
    log,
    waitMs,
    aroundRecovery,
  });
  const completeness = indexCompleteness({ reader, catalog, spaces, recovery });
  undo.push(() => recovery.stop());
  await recovery.run();

  const retrieve = retrieveCandidates({
    catalog,
    spaces,
    searchers: sparse.searchers,
    askQueryVector,
    isWhole: completeness.isWhole,
    log,
    monotonic,
  });
  const idle = idleDetector(monotonic);
  const maintenance = maintainIndex({ sparse, spaces, reader, idle, log });
  return {
    handlers: indexHandlers({
      reader,
      catalog,
      sparse,
      spaces,
      recovery,
      completeness,
      idle,
      retrieve,
    }),
    stop: async () => {
      closeCatalog();
      recovery.stop();
      await maintenance.stop();
      await recovery.settled();
      for (const closed of await Promise.allSettled([sparse.close(), spaces.close()])) {
        if (closed.status === 'fulfilled') continue;
        // A full disk, say: the next start brings back from the store what the files lack.
        log.error({ err: closed.reason }, 'the index could not be saved on closing');
      }
      await threads.release();
    },
  };
}

/** Which word vectors the forward indexes are to have the rows of. */
function vocabularyOf({ wordVectors }: SearchThreadData): number | undefined {
  return wordVectors === null ? undefined : openWordVectors(wordVectors).fingerprint;
}

/** Owns words, vectors and the catalog. Once ready, all indexed chunks are searchable, unless index files were lost. */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { errorCode } from '../../domain/errors.ts';
import type { IndexLog } from '../../engine/index-log.ts';
import type { IndexThreads, TextPool, WorkPool } from '../../engine/index-threads.ts';
import { Searchers } from '../../engine/searchers.ts';
import { SparseIndex } from '../../engine/words/sparse-index.ts';
import { replaceText } from '../../files/durable-file.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitHistory } from '../../store/stored-rows.ts';
import type { AskQueryVector } from '../search/query-vector.ts';
import { retrieveCandidates } from '../search/retrieve-candidates.ts';
import type { CommitFeed, LibraryParts, StartService } from '../system/service.ts';
import { Catalog } from './catalog.ts';
import { type IndexMessages, idleDetector, indexHandlers, maintainIndex } from './index-handlers.ts';
import { modelSpaces } from './model-spaces.ts';
import { indexCompleteness, type StartRecoveryOptions, startRecovery } from './start-recovery.ts';

export interface IndexesDependencies extends Pick<LibraryParts, 'reader' | 'feed' | 'log' | 'monotonic'> {
  dir: string;
  storeId: string;
  texts: TextPool;
  work: WorkPool;
  threads: IndexThreads;
  askQueryVector: AskQueryVector;
  /** Null for a standalone store. */
  history: CommitHistory | null;
  recoveryWaitMs?: StartRecoveryOptions['waitMs'];
  aroundRecovery?: StartRecoveryOptions['aroundRecovery'];
}

/** Chunks between two saves of the sparse side. Limits what a crash leaves to rebuild. */
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
          dependencies.log.warn({ err: also }, 'a part of the index could not be closed');
        }
      }
      throw error;
    }
  };
}

/** Registers cleanups in `undo`, for a failure in the middle of the start. */
async function open(dependencies: IndexesDependencies, undo: (() => unknown)[]) {
  const { dir, storeId, reader, feed, work, threads, log, monotonic, history } = dependencies;
  const { catalog, close: closeCatalog } = openLiveCatalog(reader, feed);
  undo.push(closeCatalog);
  const { namespace, searchers: pools, graphs } = threads;
  const searchers = new Searchers(pools, namespace, log);
  undo.push(threads.release);
  const mark = await openHighWaterMark({ dir, nextLabel: reader.counters.peek('label'), history, log });
  const noteLabels = () => mark.raise(catalog.flushedEnd);
  const spaces = modelSpaces({ ...dependencies, catalog, searchers, worker: work, graphs, noteLabels });
  undo.push(() => spaces.close());
  await spaces.sweep(new Set(reader.models.all().map(({ space }) => space)));

  const active = reader.models.activeModel();
  const files = { dir: join(dir, 'sparse'), storeId, worker: work, log, noteLabels };
  const sparseOptions = { ...files, searchers, saveEveryDocs };
  const sides = [
    SparseIndex.open(sparseOptions, catalog.live()).then((side) => {
      undo.push(() => side.index.close());
      return side;
    }),
    active === undefined ? null : spaces.load(active),
    ...pools.map((pool) => pool.run('warmUp', undefined)),
  ] as const;
  await Promise.allSettled(sides); // if one fails, wait until the others are open or failed, too
  const [opened, dense] = await Promise.all(sides);
  const sparse = opened.index;
  const parts = { ...dependencies, catalog, searchers, spaces, sparse };
  const recovery = startRecovery({ ...parts, sparse: opened, dense, waitMs: dependencies.recoveryWaitMs });
  const completeness = indexCompleteness({ ...parts, recovery });
  undo.push(() => recovery.stop());
  await recovery.run();

  const retrieve = retrieveCandidates({ ...parts, isWhole: completeness.isWhole });
  const idle = idleDetector(monotonic);
  const maintenance = maintainIndex({ ...parts, idle });
  return {
    handlers: indexHandlers({ ...parts, recovery, completeness, idle, retrieve }),
    stop: async () => {
      closeCatalog();
      recovery.stop();
      await maintenance.stop();
      await recovery.settled();
      for (const closed of await Promise.allSettled([sparse.close(), spaces.close()])) {
        if (closed.status === 'fulfilled') continue;
        // E.g. a full disk: the next start recovers from the store.
        log.error({ err: closed.reason }, 'the index could not be saved on closing');
      }
      await threads.release();
    },
  };
}

/* The catalog follows the store: filled at start, updated by visible commits; durable commits make labels safe. */

/** Fill a catalog and update it until `close`. Hides pages of domains being forgotten. */
function openLiveCatalog(reader: StoreReader, feed: CommitFeed): { catalog: Catalog; close: () => void } {
  const catalog = new Catalog();
  const hideForgotten = () =>
    catalog.hide(reader.blacklist.purging().flatMap(({ kind, pattern }) => (kind === 'domain' ? [pattern] : [])));
  hideForgotten();
  const apply = (page: PageHead) => catalog.apply(page, reader.pages.byline(page));
  for (const page of reader.pages.all()) apply(page);
  catalog.noteFlushed(catalog.labelEnd);
  const stopApplying = feed.subscribe('visible', ({ pages, removedPages, rules }) => {
    if (rules.length > 0) hideForgotten();
    for (const page of pages) apply(page);
    for (const no of removedPages) catalog.remove(no);
  });
  const stopNoting = feed.subscribe('durable', ({ pages }) => {
    for (const { first_label, chunk_count } of pages) catalog.noteFlushed(first_label + chunk_count);
  });
  const close = () => {
    stopApplying();
    stopNoting();
  };
  return { catalog, close };
}

const FILE = 'labels';
const sides = ['sparse', 'dense', 'pages'];

export interface HighWaterMarkOptions {
  dir: string;
  nextLabel: number;
  /** Null for a standalone store. */
  history: CommitHistory | null;
  log: IndexLog;
}

interface Mark {
  label: number;
  commit: string;
}

const none: Mark = { label: 0, commit: '' };

/**
 * The upper bound of labels in index files: the file `labels`, fsynced before any file that exceeds it. A store whose
 * labels end below it is an older copy and will reassign labels to other texts. Manifests cannot show this, so all
 * index files are deleted. In a cluster another host may have continued the copy, so a second line has the last commit
 * that the files may contain. Errors: those of the history.
 */
export async function openHighWaterMark({ dir, nextLabel, history, log }: HighWaterMarkOptions) {
  const path = join(dir, FILE);
  let marked = await readMark(path, log);
  const isKnown = history === null || (await history.has(marked.commit));
  if (!isKnown || marked.label > nextLabel) {
    if (sides.some((side) => existsSync(join(dir, side))))
      log.warn({ marked, next_label: nextLabel }, 'the store may be older than its index files: rebuilding them');
    for (const name of [...sides, FILE]) await rm(join(dir, name), { recursive: true, force: true });
    marked = none;
  }
  const writes = pLimit(1);
  return {
    /** Call before files with labels below `labelEnd` become valid; if it fails, they must not. Errors: file system. */
    raise: (labelEnd: number): Promise<void> =>
      writes(async () => {
        const label = Math.max(labelEnd, marked.label);
        const commit = history?.last() ?? '';
        if (label === marked.label && commit === marked.commit) return;
        await replaceText(path, commit === '' ? String(label) : `${label}\n${commit}`);
        marked = { label, commit };
      }),
  };
}

/** `none` if missing or unreadable. An unreadable entry is deleted, to make room for the next mark. */
async function readMark(path: string, log: IndexLog): Promise<Mark> {
  try {
    const [label, commit = ''] = (await readFile(path, 'utf8')).split('\n');
    return { label: Number.parseInt(label, 10) || 0, commit };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return none;
    log.warn({ err: error }, 'the label bound of the index files cannot be read: writing it again');
    await rm(path, { recursive: true, force: true });
    return none;
  }
}

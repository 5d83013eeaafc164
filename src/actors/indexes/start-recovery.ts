/** Restores index files at start. A start waits for unsaved changes (in a cluster: briefly), not for lost files. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { IndexState } from '../../domain/messages.ts';
import { type EmbeddingModel, isBuiltIn } from '../../domain/model.ts';
import type { IndexLog } from '../../engine/index-log.ts';
import type { TextPool } from '../../engine/index-threads.ts';
import type { OpenedIndex } from '../../engine/words/sparse-index.ts';
import type { StoreReader } from '../../store/store.ts';
import { withProgress } from '../system/background.ts';
import type { Catalog } from './catalog.ts';
import { labelsOf, type ModelSpace, type ModelSpaces } from './model-spaces.ts';
import { chunkedTextOf, indexRecovery } from './recover-index.ts';

export interface StartRecoveryOptions {
  dir: string;
  reader: StoreReader;
  catalog: Catalog;
  texts: TextPool;
  sparse: OpenedIndex;
  /** Space of the active model or null. */
  dense: ModelSpace | null;
  log: IndexLog;
  /** Max wait of the start, ms. Default: until everything is restored. */
  waitMs?: number | undefined;
  /** Lets tests delay the recovery of a page. */
  aroundRecovery?: ((recoverPage: RecoverPage) => RecoverPage) | undefined;
}

export type RecoverPage = (pageNo: number) => Promise<void>;

/** Marker file of a running rebuild. After a crash, the rest is still rebuilt in the background. */
const rebuildingMark = 'rebuilding';

export type StartRecovery = ReturnType<typeof startRecovery>;

export function startRecovery(options: StartRecoveryOptions) {
  const { dir, reader, catalog, texts, sparse, dense, log, waitMs } = options;
  const { aroundRecovery = (recoverPage) => recoverPage } = options;
  const mark = join(dir, rebuildingMark);
  const recoverPage = aroundRecovery(async (no) => {
    const page = reader.pages.get(no);
    if (page === undefined || !catalog.isFlushed({ first: page.first_label, count: page.chunk_count })) return;
    const chunked = chunkedTextOf(reader, page);
    const segment = await texts.run('segmentOfChunks', chunked);
    // Indexed again meanwhile: its new labels are already in the index.
    if (reader.pages.head(no)?.first_label !== page.first_label) return;
    await sparse.index.add(segment, labelsOf([{ first: page.first_label, count: chunked.chunks.length }]));
  });
  const text = indexRecovery({ reader, catalog, side: 'sparse', recoverPage, log });
  /** Whether files exist but are unusable. */
  const lost = sparse.lost || dense?.lost === true;
  let rebuilding: Promise<void> = Promise.resolve();

  const pagesLeft = () => text.lacking().pages + (dense?.lacking().pages ?? 0);

  /** Returns whether everything is restored. */
  const recover = async (): Promise<boolean> => {
    const leftOver = { leaveToJobs: true };
    const sides = [text.recover(sparse.missing, leftOver), dense?.recover(dense.missing, leftOver)];
    return (await Promise.all(sides)).every((complete) => complete !== false);
  };

  const rebuild = async (): Promise<void> => {
    if (!(await recover())) return; // stopped, or a page failed: the mark stays for the next start
    log.info({}, 'the index is complete again');
    await Promise.all([sparse.index.save(), dense?.chunks.save()]);
    await rm(mark, { force: true });
  };

  const beginRebuilding = async (): Promise<void> => {
    const counts = { sparse_chunks: sparse.missing.length, dense_chunks: dense?.missing.length ?? 0 };
    if (lost) log.warn(counts, 'index files were lost: rebuilding them in the background');
    else log.info(counts, 'index files are missing: building them from the store in the background');
    await writeFile(mark, '', { mode: 0o600 }).catch((error) =>
      log.error({ err: error }, 'after a crash, the next start will wait for the rest of the rebuild'),
    );
    rebuilding = rebuild().catch((error) => log.error({ err: error }, 'the rebuilt index could not be saved'));
  };

  return {
    lost,
    /** Dead content of the files. */
    dropped: sparse.dropped + (dense?.dropped ?? 0),
    text,
    /** Resolves when the service may be ready. Errors: none. */
    async run(): Promise<void> {
      if (lost || existsSync(mark)) return beginRebuilding();
      const recovered = withProgress(
        () => log.info({ pages_left: pagesLeft() }, 'restoring indexed content that was not saved'),
        recover,
      );
      rebuilding = recovered.then(() => {});
      await (waitMs === undefined ? recovered : Promise.race([recovered, delay(waitMs, undefined, { ref: false })]));
    },
    stop(): void {
      text.stop();
      dense?.stopRecovery();
    },
    /** Resolves when text recovery has ended and rebuilt files are saved. */
    async settled(): Promise<void> {
      await Promise.all([text.settled(), rebuilding]);
    },
  };
}

/* Whether the index has everything in the store: the only source for searches and readiness. */

interface CompletenessDependencies {
  reader: Pick<StoreReader, 'models' | 'backfills'>;
  catalog: Catalog;
  spaces: ModelSpaces;
  recovery: StartRecovery;
}

export type IndexCompleteness = ReturnType<typeof indexCompleteness>;

export function indexCompleteness({ reader, catalog, spaces, recovery }: CompletenessDependencies) {
  const isWhole = (model: EmbeddingModel): boolean =>
    (model.status === 'ready' || isBuiltIn(model)) &&
    recovery.text.isWhole() &&
    spaces.opened(model.space)?.isWhole() !== false;

  const missing = (model: EmbeddingModel | undefined): number => {
    const text = recovery.text.lacking().chunks;
    if (model === undefined) return text;
    const lacking = spaces.opened(model.space)?.lacking().chunks ?? 0;
    // Missing vectors of the built-in model are filled later; that is not a fault.
    if (model.status === 'ready' || isBuiltIn(model)) return Math.max(text, lacking);
    const backfill = reader.backfills.get(model.space);
    const unmade = backfill === undefined ? 0 : (backfill.total_chunks ?? 0) - backfill.embedded_chunks;
    return Math.max(text, lacking, unmade);
  };

  return {
    isWhole,
    /** State with the active model. */
    state: (): IndexState => {
      const model = reader.models.activeModel();
      const whole = model === undefined ? recovery.text.isWhole() : isWhole(model);
      const total_chunks = catalog.liveLabels;
      const indexed_chunks = Math.max(0, total_chunks - missing(model));
      return { state: whole ? 'whole' : 'rebuilding', indexed_chunks, total_chunks };
    },
  };
}

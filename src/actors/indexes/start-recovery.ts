/**
 * What the index files lack at a start is brought back from the store, on the sparse side and in the active model's space. What a crash
 * left unsaved is waited for, however much it is (in a cluster: not for long). What is missing because files were lost (a restore brings none along, a version may not
 * read those of before) is rebuilt beside the service, which says so meanwhile (index-completeness.ts). A space that is opened later brings back what it lacks by itself (src/index/model-spaces.ts).
 */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { IndexLog } from '../../engine/index-log.ts';
import type { WorkPool } from '../../engine/index-threads.ts';
import type { OpenedIndex } from '../../engine/words/sparse-index.ts';
import type { Catalog } from '../../index/catalog.ts';
import { labelsOf, type ModelSpace } from '../../index/model-space.ts';
import { IndexRecovery, recoverText } from '../../index/recover-index.ts';
import type { StoreReader } from '../../store/store.ts';
import { tellProgress } from '../system/tell-progress.ts';

export interface StartRecoveryOptions {
  /** Folder of the index files. */
  dir: string;
  reader: StoreReader;
  catalog: Catalog;
  work: WorkPool;
  sparse: OpenedIndex;
  /** The space of the active model; null where there is none. */
  dense: ModelSpace | null;
  log: IndexLog;
  /** The start waits so long, ms, and the rest comes back beside the service; until all is back unless given. */
  waitMs?: number | undefined;
  /** Put around bringing back a page's text: where tests hold it up. */
  aroundRecovery?: ((recoverPage: RecoverPage) => RecoverPage) | undefined;
}

export type RecoverPage = (pageNo: number) => Promise<void>;

/** A file in the index folder while lost files are rebuilt: after a crash meanwhile the rest is still rebuilt beside the service. */
const rebuildingMark = 'rebuilding';

export class StartRecovery {
  readonly #options: StartRecoveryOptions;
  readonly #text: IndexRecovery;
  #rebuilding: Promise<void> = Promise.resolve();

  constructor(options: StartRecoveryOptions) {
    this.#options = options;
    const { reader, catalog, work, sparse, log, aroundRecovery = (recoverPage) => recoverPage } = options;
    const recoverPage = recoverText({
      reader,
      catalog,
      model: (text) => work.run('segmentOfChunks', text),
      addSegment: (start, count, segment) => sparse.index.add(segment, labelsOf([{ first: start, count }])),
    });
    this.#text = new IndexRecovery({
      reader,
      catalog,
      side: 'sparse',
      recoverPage: aroundRecovery(recoverPage),
      log,
    });
  }

  /** Files were there once and cannot be used. */
  get lost(): boolean {
    return this.#options.sparse.lost || this.#options.dense?.lost === true;
  }

  /** What the files held that is not live any more. */
  get dropped(): number {
    return this.#options.sparse.dropped + (this.#options.dense?.dropped ?? 0);
  }

  /** The sparse side's, as of `IndexRecovery`. */
  get text(): Pick<IndexRecovery, 'lacking' | 'isWhole'> {
    return this.#text;
  }

  /** Resolves when the service may be ready: all is back, or what is not comes back beside it. Errors: none. */
  async run(): Promise<void> {
    const { dir, log, waitMs } = this.#options;
    if (this.lost || existsSync(join(dir, rebuildingMark))) return this.#beginRebuilding();
    const recovered = tellProgress(
      () => log.info({ pages_left: this.#pagesLeft() }, 'bringing back what was indexed and not saved'),
      () => this.#recover(),
    );
    this.#rebuilding = recovered.then(() => {});
    await (waitMs === undefined ? recovered : Promise.race([recovered, delay(waitMs, undefined, { ref: false })]));
  }

  /** Begin no further page. */
  stop(): void {
    this.#text.stop();
    this.#options.dense?.stopRecovery();
  }

  /** Resolves when text is no longer being brought back, and what was rebuilt is saved. */
  async settled(): Promise<void> {
    await Promise.all([this.#text.settled(), this.#rebuilding]);
  }

  #pagesLeft(): number {
    return this.#text.lacking().pages + (this.#options.dense?.lacking().pages ?? 0);
  }

  /** Bring both sides back: to whether all of it is. */
  async #recover(): Promise<boolean> {
    const { sparse, dense } = this.#options;
    const options = { leaveToJobs: true };
    const sides = [this.#text.recover(sparse.missing, options), dense?.recover(dense.missing, options)];
    return (await Promise.all(sides)).every((complete) => complete !== false);
  }

  async #beginRebuilding(): Promise<void> {
    const { dir, sparse, dense, log } = this.#options;
    const counts = { sparse_chunks: sparse.missing.length, dense_chunks: dense?.missing.length ?? 0 };
    if (this.lost) log.warn(counts, 'index files were lost: rebuilding them beside the service');
    else log.info(counts, 'index files are not there: building them from the store, beside the service');
    await writeFile(join(dir, rebuildingMark), '', { mode: 0o600 }).catch((error) =>
      log.error({ err: error }, 'a start after a crash will wait for the rest of the rebuilding'),
    );
    this.#rebuilding = this.#rebuild().catch((error) =>
      log.error({ err: error }, 'the rebuilt index could not be saved'),
    );
  }

  async #rebuild(): Promise<void> {
    const { dir, sparse, dense, log } = this.#options;
    if (!(await this.#recover())) return; // stopped, or a page could not be: the mark stays for the next start
    log.info({}, 'the index is whole again');
    await Promise.all([sparse.index.save(), dense?.chunks.save()]);
    await rm(join(dir, rebuildingMark), { force: true });
  }
}

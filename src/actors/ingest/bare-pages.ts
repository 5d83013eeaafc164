/**
 * Makes pages findable of which no text is in the index: those still to be fetched, those that could not be fetched or indexed, and those
 * whose text has no words. They get a bare chunk, which is found by title, author, host, tags and note; the text takes its place when it comes. No job is needed: what
 * lacks its chunk is seen from the rows, at the start (a store of before, a crash) and with every commit.
 */

import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { lacksBareChunk, mayBeBare } from '../../domain/page.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import type { SystemAsk } from '../system/system-messages.ts';
import type { PageIndexer } from './index-page.ts';

export interface BarePagesDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  feed: CommitFeed;
  index: PageIndexer;
  log: Logger;
}

/** Pages in work at once: four batches, so that pages with a text are never far behind. */
const width = 32;
/** What could not be done, as a provider or the disk does not work, is tried again after so long, ms, and after twice as long each time. */
const firstWaitMs = 60_000;
const maxWaitMs = 24 * 3_600_000;

export class BarePages {
  readonly #dependencies: BarePagesDependencies;
  readonly #stop = new AbortController();
  readonly #unsubscribe: () => void;
  readonly #waiting = new Set<number>();
  /** Their chunk may be in the store and not in the index, so that it is made again. */
  readonly #failed = new Set<number>();
  #running: Promise<void> | undefined;
  #again: NodeJS.Timeout | undefined;
  #waitMs = firstWaitMs;

  constructor(dependencies: BarePagesDependencies) {
    this.#dependencies = dependencies;
    this.#unsubscribe = dependencies.feed.subscribe('durable', ({ pages }) => {
      for (const page of pages) if (lacksBareChunk(page)) this.#waiting.add(page.no);
      this.#start();
    });
    this.#running = this.#takeUp().finally(() => {
      this.#running = undefined;
      this.#start();
    });
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#again);
    this.#stop.abort(new Error('the service is stopping'));
    await this.#running;
  }

  /** Those of before this start. */
  async #takeUp(): Promise<void> {
    const { ask, log } = this.#dependencies;
    try {
      for (const no of await ask('index.pagesWithoutChunks', {})) this.#waiting.add(no);
    } catch (error) {
      log.error({ err: error }, 'pages without a text that came before are made findable at the next start');
    }
  }

  #start(): void {
    if (this.#running !== undefined || this.#waiting.size === 0 || this.#stop.signal.aborted) return;
    this.#running = this.#indexAll().finally(() => {
      this.#running = undefined;
      this.#start();
    });
  }

  /** All that wait. Errors: none. */
  async #indexAll(): Promise<void> {
    const some = [...this.#waiting];
    this.#waiting.clear();
    const limit = pLimit(width);
    const errors = await Promise.all(some.map((no) => limit(() => this.#index(no))));
    const failures = errors.filter((error) => error !== null);
    if (failures.length === 0) this.#waitMs = firstWaitMs;
    if (failures.length === 0 || this.#stop.signal.aborted) return;
    const { log } = this.#dependencies;
    const [waitMs, again_in_s] = [this.#waitMs, this.#waitMs / 1000];
    this.#waitMs = Math.min(maxWaitMs, 2 * waitMs);
    log.warn(
      { err: failures[0], pages: failures.length, again_in_s },
      'pages without a text could not be made findable',
    );
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      for (const no of this.#failed) this.#waiting.add(no);
      this.#start();
    }, waitMs).unref();
  }

  /** Gives why that failed, or null. */
  async #index(no: number): Promise<unknown> {
    const { reader, index } = this.#dependencies;
    const { signal } = this.#stop;
    const page = signal.aborted ? undefined : reader.pages.get(no);
    const isWanted = page !== undefined && (this.#failed.has(no) ? mayBeBare(page) : lacksBareChunk(page));
    this.#failed.delete(no);
    if (page === undefined || !isWanted) return null;
    try {
      await index({ page, attempt: null, signal, readText: () => '' });
      return null;
    } catch (error) {
      this.#failed.add(no);
      return error;
    }
  }
}

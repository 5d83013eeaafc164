/**
 * The background work of a vector space: slices of growing graphs and dropping deleted rows, and saves that are due. It yields to
 * searches and to indexing: a slice is short, waits for searches that are under way, and leaves most of the time to others. Asked for
 * after each change; it ends by itself when nothing is left to do.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** Length of a slice, ms. */
export const SLICE_MS = 2;
/**
 * Pause between two slices, ms: half of each thread is left to other work, nearly all of it while pages are indexed. Rows are
 * found without the graph, so what comes in is searchable sooner, and the graph catches up when it is quiet.
 */
const PAUSE_MS = 2;
const PAUSE_WHILE_BUSY_MS = 50;
/** So long a slice waits for searches to end before it comes in between, ms. */
const PATIENCE_MS = 20;

export interface UpkeepTasks {
  /** One slice on every shard; gives the rows that wait for more. */
  slice: () => Promise<number>;
  /** Save if that is due. Errors are told, and hinder nothing. */
  saveIfDue: () => Promise<void>;
  onError: (error: unknown) => void;
  /** Whether the processor is wanted for indexing. */
  busy: () => boolean;
}

export class SpaceUpkeep {
  readonly #tasks: UpkeepTasks;
  #running: Promise<void> | undefined;
  #asked = false;
  #searching = 0;
  #stopped = false;

  constructor(tasks: UpkeepTasks) {
    this.#tasks = tasks;
  }

  /** See to it that everything there is to do gets done. */
  ask(): void {
    this.#asked = true;
    if (this.#running !== undefined || this.#stopped) return;
    this.#running = this.#run()
      .catch(this.#tasks.onError)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Run a search, to which slices yield. */
  async besides<Result>(search: () => Promise<Result>): Promise<Result> {
    this.#searching++;
    try {
      return await search();
    } finally {
      this.#searching--;
    }
  }

  /** Begin nothing more; resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#asked && !this.#stopped) {
      this.#asked = false;
      if ((await this.#tasks.slice()) > 0) this.#asked = true;
      await this.#tasks.saveIfDue().catch(this.#tasks.onError);
      if (!this.#asked) return;
      let pausedMs = this.#tasks.busy() ? PAUSE_WHILE_BUSY_MS : PAUSE_MS;
      await delay(pausedMs);
      for (; this.#searching > 0 && pausedMs < PATIENCE_MS; pausedMs += PAUSE_MS) await delay(PAUSE_MS);
    }
  }
}

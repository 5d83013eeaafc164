/**
 * Batches pages to index. With an idle thread a page starts at once; else pages share a task, a segment and a commit. A
 * second thread starts for a full batch or next to long texts. Pages of a failed batch are retried one by one.
 */
export interface BatchedPage {
  /** If it throws, the page is rejected. */
  readText: () => string;
  signal: AbortSignal;
}

export interface PageBatchesOptions<Page extends BatchedPage, Prepared> {
  threads: number;
  /** The work of a thread. Rejects when the signal is aborted. */
  prepare: (pages: readonly Page[], texts: readonly string[], signal: AbortSignal) => Promise<Prepared>;
  /** The work after the thread, which is then free for the next batch. Rejects as `prepare` does. */
  embed?: (
    pages: readonly Page[],
    texts: readonly string[],
    prepared: Prepared,
    signal: AbortSignal,
  ) => Promise<Prepared>;
  /** Whether one page may have caused a batch's error; otherwise all its pages fail. Default: always. */
  mayBeOnePage?: (error: unknown) => boolean;
  /** Store and index the results. Returns each page's error or null. */
  finish: (pages: readonly Page[], prepared: Prepared) => Promise<(Error | null)[]>;
}

interface Entry<Page> {
  page: Page;
  text: string | null;
  /** Retried alone, because its batch failed. */
  alone: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

const maxPages = 8;
/** UTF-16 units per batch: some 30 ms of work. A longer page gets a batch of its own. */
const maxLength = 131_072;
/** A batch that takes longer, ms, counts as long. It is many times the usual, and about the start of a thread. */
const longMs = 2000;

export class PageBatches<Page extends BatchedPage, Prepared> {
  readonly #options: PageBatchesOptions<Page, Prepared>;
  #waiting: Entry<Page>[] = [];
  #running = 0;
  #runningLong = 0;

  constructor(options: PageBatchesOptions<Page, Prepared>) {
    this.#options = options;
  }

  /** Resolves when the page is searchable. Errors: of text, thread, store and index; the signal's reason. */
  async index(page: Page): Promise<void> {
    page.signal.throwIfAborted();
    const indexed = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ page, text: null, alone: false, resolve, reject });
    });
    this.#start();
    await indexed;
  }

  #start(): void {
    while (this.#hasRoom()) {
      const batch = this.#takeBatch();
      if (batch.length === 0) return;
      this.#running++;
      void this.#run(batch);
    }
  }

  /** Each thread may have a batch, and one more large batch may wait. */
  #hasRoom(): boolean {
    const { threads } = this.#options;
    if (this.#waiting.length >= maxPages) return this.#running <= threads;
    return this.#running === this.#runningLong && this.#running < threads;
  }

  #takeBatch(): Entry<Page>[] {
    const batch: Entry<Page>[] = [];
    for (let length = 0; batch.length < maxPages; ) {
      const [entry] = this.#waiting;
      if (entry === undefined || (entry.alone && batch.length > 0)) break;
      const text = readEntry(entry);
      if (text !== null && batch.length > 0 && length + text.length > maxLength) break;
      this.#waiting.shift();
      if (text === null) continue;
      length += text.length;
      batch.push(entry);
      if (entry.alone) break;
    }
    return batch;
  }

  async #run(batch: readonly Entry<Page>[]): Promise<void> {
    const pages = batch.map(({ page }) => page);
    try {
      const prepared = await this.#prepare(batch);
      if (prepared === null) return;
      const errors = await this.#options.finish(pages, prepared.value);
      for (const [place, { resolve, reject }] of batch.entries()) {
        const error = errors[place];
        if (error === null) resolve();
        else reject(error);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Null if the batch failed. Its pages are then retried one by one. */
  async #prepare(batch: readonly Entry<Page>[]): Promise<{ value: Prepared } | null> {
    const stop = new AbortController();
    const abort = (event: Event) => stop.abort((event.target as AbortSignal).reason);
    for (const { page } of batch) page.signal.addEventListener('abort', abort);
    const { prepare, embed, mayBeOnePage = () => true } = this.#options;
    const texts = batch.map(({ text }) => text ?? '');
    let takesLong = 0;
    const timer = setTimeout(() => {
      this.#runningLong += takesLong = 1;
      this.#start();
    }, longMs);
    let holdsThread = true;
    const leaveThread = () => {
      if (!holdsThread) return;
      holdsThread = false;
      clearTimeout(timer);
      this.#running--;
      this.#runningLong -= takesLong;
    };
    try {
      const pages = batch.map(({ page }) => page);
      const value = await prepare(pages, texts, stop.signal);
      if (embed === undefined) return { value };
      leaveThread();
      this.#start();
      stop.signal.throwIfAborted();
      return { value: await embed(pages, texts, value, stop.signal) };
    } catch (error) {
      if (batch.length === 1 || !mayBeOnePage(error)) throw error;
      for (const entry of batch) entry.alone = true;
      this.#waiting.unshift(...batch);
      return null;
    } finally {
      for (const { page } of batch) page.signal.removeEventListener('abort', abort);
      leaveThread();
      this.#start();
    }
  }
}

/** Null if the text is unreadable; then the entry is rejected. */
function readEntry<Page extends BatchedPage>(entry: Entry<Page>): string | null {
  try {
    entry.page.signal.throwIfAborted();
    entry.text ??= entry.page.readText();
    return entry.text;
  } catch (error) {
    entry.reject(error);
    return null;
  }
}

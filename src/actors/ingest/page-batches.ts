/**
 * Brings pages that wait to be indexed together. While no work thread is busy a page goes at once; else pages gather, and what has gathered
 * goes as one batch: one task, one segment, one commit and one publication for all. A second thread, which loads a language model of its own,
 * begins where a full batch waits, or beside texts that take long. Where a batch fails in the thread, or one of its pages is aborted there,
 * the others are tried one by one, so that a page harms itself only. Texts are read when their batch is formed, so that few are in memory,
 * however many pages wait.
 */
export interface BatchedPage {
  /** Errors: it is rejected with what this throws. */
  readText: () => string;
  signal: AbortSignal;
}

export interface PageBatchesOptions<Page extends BatchedPage, Prepared> {
  /** Threads that prepare. */
  threads: number;
  /** Do the threads' part. Rejects when the signal is aborted. */
  prepare: (pages: readonly Page[], texts: readonly string[], signal: AbortSignal) => Promise<Prepared>;
  /** What is left to others when the thread is done: it is free for the next batch meanwhile. Rejects as `prepare` does. */
  embed?: (
    pages: readonly Page[],
    texts: readonly string[],
    prepared: Prepared,
    signal: AbortSignal,
  ) => Promise<Prepared>;
  /** Whether an error of a batch may be one page's; else all its pages have failed. Always so unless given. */
  mayBeOnePage?: (error: unknown) => boolean;
  /** Store and index what the threads have made. Gives for each page why it failed, or null. */
  finish: (pages: readonly Page[], prepared: Prepared) => Promise<(Error | null)[]>;
}

interface Entry<Page> {
  page: Page;
  text: string | null;
  /** It was in a batch that failed. */
  alone: boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Pages in a batch. */
const maxPages = 8;
/** Text in a batch, UTF-16 units: some 30 ms of work. A longer page goes alone. */
const maxLength = 131_072;
/** A batch that takes longer, ms, is waited for by nobody: many times what one takes, and about what a thread takes that begins with it. */
const longMs = 2000;

export class PageBatches<Page extends BatchedPage, Prepared> {
  readonly #options: PageBatchesOptions<Page, Prepared>;
  #waiting: Entry<Page>[] = [];
  #running = 0;
  /** Of those that run, batches that take long. */
  #runningLong = 0;

  constructor(options: PageBatchesOptions<Page, Prepared>) {
    this.#options = options;
  }

  /** Resolves when the page is searchable. Errors: of its text, the thread, the store and the index; the signal's reason. */
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

  /** Every thread may have a batch, and one more waits for the first that is free, if it is worth its while. */
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

  /** Null where a batch failed whose pages are now to be tried one by one. */
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

/** The entry's text; null when there is none to be had, which its page has been told. */
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

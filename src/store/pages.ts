/**
 * Page rows, their texts and chunks, and the two ways to find a page by a key: its canonical URL and its title.
 *
 * Databases: `pages` no → row; `bodies` no → text; `chunks` no → chunk list; `feed_contents` no → HTML that stands in for a page
 * which cannot be fetched; `page_by_url` 16 bytes of SHA-256(canonical URL) → no;
 * `page_by_title` [hash of the folded title, no]. URLs are keyed by hash because LMDB keys are short and URLs are not.
 */
import type { Database } from 'lmdb';
import { foldTitle } from '../domain/fold-title.ts';
import type { Chunk, Page } from '../domain/page.ts';
import { type Environment, entriesOf } from './environment.ts';
import { hashKey, lastNumberOf, urlKey } from './keys.ts';

/** As stored: metadata as JSON text, which keeps every key and every lone surrogate as it came. */
type StoredPage = Omit<Page, 'metadata'> & { metadata: string | null };

export class PageReader {
  protected readonly rows: Database<StoredPage, number>;
  protected readonly texts: Database<string, number>;
  protected readonly chunkLists: Database<Chunk[], number>;
  protected readonly feedContents: Database<string, number>;
  protected readonly byUrl: Database<number, Buffer>;
  protected readonly byTitle: Database<number, [string, number]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('pages', { keyEncoding: 'uint32' });
    this.texts = environment.openDatabase('bodies', { keyEncoding: 'uint32', encoding: 'string' });
    this.chunkLists = environment.openDatabase('chunks', { keyEncoding: 'uint32' });
    this.feedContents = environment.openDatabase('feed_contents', { keyEncoding: 'uint32', encoding: 'string' });
    this.byUrl = environment.openDatabase('page_by_url', { keyEncoding: 'binary' });
    this.byTitle = environment.openDatabase('page_by_title', {});
  }

  get(no: number): Page | undefined {
    const row = this.rows.get(no);
    return row === undefined
      ? undefined
      : { ...row, metadata: row.metadata === null ? null : JSON.parse(row.metadata) };
  }

  has(no: number): boolean {
    return this.rows.doesExist(no);
  }

  /** All pages in the order of their numbers, without their metadata parsed. */
  *all(): Generator<StoredPage> {
    for (const { value } of this.rows.getRange()) yield value;
  }

  /** Up to `limit` numbers of pages above `after`, ascending. */
  numbersAfter(after: number, limit: number): number[] {
    return [...this.rows.getKeys({ start: after + 1, limit })];
  }

  count(): number {
    return entriesOf(this.rows);
  }

  numberByUrl(canonicalUrl: string): number | undefined {
    return this.byUrl.get(urlKey(canonicalUrl));
  }

  /** Pages whose title equals this one after folding, oldest first, at most `limit`. */
  numbersByTitle(title: string, limit: number): number[] {
    const [key] = titleKey(title, 0);
    return [...this.byTitle.getKeys({ start: [key, 0], end: [key, Number.MAX_SAFE_INTEGER], limit })].map(
      ([, no]) => no,
    );
  }

  /** The text, or undefined while it is still to be fetched. */
  body(no: number): string | undefined {
    return this.texts.get(no);
  }

  /** What the feed that brought the page says of it: HTML, as long as the page is still to be fetched. */
  feedContent(no: number): string | undefined {
    return this.feedContents.get(no);
  }

  chunks(no: number): Chunk[] {
    return this.chunkLists.get(no) ?? [];
  }
}

/** Writer only: valid inside a transaction. */
export class PageTransactor extends PageReader {
  /** Rows that the current transaction wrote, in order. */
  changed: Page[] = [];
  /** Numbers of the pages that the current transaction removed. */
  removed: number[] = [];

  /** Store the next version of a row; `before` is the version it replaces, or undefined for a new page. */
  put(page: Page, before: Page | undefined): void {
    if (before === undefined) this.byUrl.put(urlKey(page.canonical_url), page.no);
    if (before?.title !== page.title) {
      if (before !== undefined && before.title !== null) this.byTitle.remove(titleKey(before.title, page.no));
      if (page.title !== null) this.byTitle.put(titleKey(page.title, page.no), 0);
    }
    this.changed.push(page);
    this.rows.put(page.no, { ...page, metadata: page.metadata === null ? null : JSON.stringify(page.metadata) });
  }

  /** Delete everything that is the page's in these databases. */
  remove(page: Page): void {
    if (this.byUrl.get(urlKey(page.canonical_url)) === page.no) this.byUrl.remove(urlKey(page.canonical_url));
    if (page.title !== null) this.byTitle.remove(titleKey(page.title, page.no));
    this.chunkLists.remove(page.no);
    this.texts.remove(page.no);
    this.feedContents.remove(page.no);
    this.rows.remove(page.no);
    this.removed.push(page.no);
  }

  putBody(no: number, text: string): void {
    this.texts.put(no, text);
  }

  putFeedContent(no: number, html: string): void {
    this.feedContents.put(no, html);
  }

  removeFeedContent(no: number): void {
    this.feedContents.remove(no);
  }

  putChunks(no: number, chunks: Chunk[]): void {
    this.chunkLists.put(no, chunks);
  }

  /** Make both indexes anew from the rows: repair only. Of two pages of one URL the older keeps it. */
  rebuildIndexes(): void {
    for (const key of [...this.byUrl.getKeys()]) this.byUrl.remove(key);
    for (const key of [...this.byTitle.getKeys()]) this.byTitle.remove(key);
    for (const page of this.all()) {
      if (this.byUrl.get(urlKey(page.canonical_url)) === undefined) this.byUrl.put(urlKey(page.canonical_url), page.no);
      if (page.title !== null) this.byTitle.put(titleKey(page.title, page.no), 0);
    }
  }

  /** Delete texts and chunk lists of no page: repair only. Gives how many. */
  dropOrphans(): number {
    let dropped = 0;
    for (const database of [this.texts, this.chunkLists, this.feedContents]) {
      for (const no of [...database.getKeys()]) {
        if (this.rows.doesExist(no)) continue;
        database.remove(no);
        dropped++;
      }
    }
    return dropped;
  }

  /** The highest number of a row, 0 for none. */
  lastNumber(): number {
    return lastNumberOf(this.rows);
  }
}

function titleKey(title: string, no: number): [string, number] {
  return [hashKey(foldTitle(title)), no];
}

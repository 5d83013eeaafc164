/**
 * Page rows, their texts and chunks, and the two ways to find a page by a key: its canonical URL and its title.
 *
 * Databases: `pages` no → row; `bodies`, `body_parts` → text; `chunks`, `chunk_parts` → chunk list (both as of `long-values.ts`);
 * `page_sections` no → sections of the text; `known_visits` [no, ms] of visits that may be handed in again (`once`); `feed_contents` no → HTML that stands in for a page which cannot be fetched;
 * `page_by_url` 16 bytes of SHA-256(canonical URL) → no; `page_by_title` [hash of the folded title, no]. URLs are keyed by hash
 * because LMDB keys are short and URLs are not.
 *
 * A row is small however long its page: what grows with the text is kept apart, so that a passage of a page costs its own length.
 */
import { bylineOf } from '../compute/text/byline.ts';
import { foldTitle } from '../domain/normalize-text.ts';
import type { Byline, Chunk, Page, Section } from '../domain/page.ts';
import { type Environment, entriesOf, type Table } from './environment.ts';
import { hashKey, lastNumberOf, pairsOf, removeAll, urlKey } from './keys.ts';
import { LongValues, longList, longText } from './long-values.ts';

/** As stored: metadata as JSON text, which keeps every key and every lone surrogate as it came. Rows of formats 1 and 2 may have their sections. */
type StoredPage = PageHead & { metadata: string | null; sections?: Section[] };
/** What needs no metadata, which may be long: they are not parsed. */
export type PageHead = Omit<Page, 'metadata'> & {
  /** Read from the metadata where the row was written; absent of rows that earlier versions wrote: `byline` has it of every page. */
  byline?: Byline;
};

/**
 * UTF-16 code units of a part of a text, some four passages: a passage is in one or two parts. In UTF-8 a part of ASCII fills two of LMDB's
 * pages, one of CJK six, with their headers.
 */
const textForm = longText('bodies', 'body_parts', 8000);
/** Chunks of a part of a list: about as many bytes. */
const chunkForm = longList<Chunk>('chunks', 'chunk_parts', 64);

export class PageReader {
  protected readonly rows: Table<StoredPage, number>;
  protected readonly texts: LongValues<string>;
  protected readonly chunkLists: LongValues<Chunk[]>;
  protected readonly sectionLists: Table<Section[], number>;
  protected readonly feedContents: Table<string, number>;
  protected readonly visits: Table<number, [page: number, seenAt: number]>;
  protected readonly byUrl: Table<number, Buffer>;
  protected readonly byTitle: Table<number, [string, number]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('pages', { keyEncoding: 'uint32' });
    this.texts = new LongValues(environment, textForm);
    this.chunkLists = new LongValues(environment, chunkForm);
    this.sectionLists = environment.openDatabase('page_sections', { keyEncoding: 'uint32' });
    this.feedContents = environment.openDatabase('feed_contents', { keyEncoding: 'uint32', encoding: 'string' });
    this.visits = environment.openDatabase('known_visits', {});
    this.byUrl = environment.openDatabase('page_by_url', { keyEncoding: 'binary' });
    this.byTitle = environment.openDatabase('page_by_title', {});
  }

  get(no: number): Page | undefined {
    const row = this.rows.get(no);
    if (row === undefined) return undefined;
    const { byline: _, ...page } = row;
    return { ...page, metadata: row.metadata === null ? null : JSON.parse(row.metadata) };
  }

  /** What a page says of itself. */
  byline(page: PageHead): Byline {
    return page.byline ?? bylineOf(this.get(page.no)?.metadata ?? null);
  }

  /** The row without its metadata, for whoever shows a page among others. */
  head(no: number): PageHead | undefined {
    return this.rows.get(no);
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

  /** Up to `limit` pages of numbers below `before`, newest first, without their metadata parsed. */
  headsBelow(before: number, limit: number): PageHead[] {
    const start = Math.min(before, 2 ** 32) - 1;
    if (start < 1) return [];
    return [...this.rows.getRange({ start, reverse: true, limit })].map(({ value }) => value);
  }

  count(): number {
    return entriesOf(this.rows);
  }

  numberByUrl(canonicalUrl: string): number | undefined {
    return this.numberByUrlKey(urlKey(canonicalUrl));
  }

  numberByUrlKey(key: Buffer): number | undefined {
    return this.byUrl.get(key);
  }

  /** Pages whose title equals this one after folding, oldest first, at most `limit`. */
  numbersByTitle(title: string, limit: number): number[] {
    const [key] = titleKey(title, 0);
    return [...this.byTitle.getKeys({ start: [key, 0], end: [key, Number.MAX_SAFE_INTEGER], limit })].map(
      ([, no]) => no,
    );
  }

  /** The whole text, or undefined while it is still to be fetched. */
  body(no: number): string | undefined {
    return this.texts.get(no);
  }

  hasBody(no: number): boolean {
    return this.texts.has(no);
  }

  /** UTF-16 code units of the text, read from its end; undefined while it is still to be fetched. */
  bodyLength(no: number): number | undefined {
    return this.texts.length(no);
  }

  /** The beginning of the text, which is the whole of a short one; '' while it is still to be fetched. */
  bodyHead(no: number): string {
    return this.texts.head(no) ?? '';
  }

  /** The slice of the text, which costs its own length; offsets in UTF-16 code units, what is beyond the text is left out. */
  bodySlice(no: number, from: number, to: number): string {
    return this.texts.slice(no, Math.max(0, from), to);
  }

  /** Sections of the text. */
  sections(no: number): Section[] {
    return this.sectionLists.get(no) ?? this.rows.get(no)?.sections ?? [];
  }

  /** What the feed that brought the page says of it: HTML, as long as the page is still to be fetched. */
  feedContent(no: number): string | undefined {
    return this.feedContents.get(no);
  }

  /** Whether a visit of this very time was handed in with `once`. */
  knowsVisit(no: number, seenAt: number): boolean {
    return this.visits.doesExist([no, seenAt]);
  }

  /** All chunks of a page, in their order. */
  chunks(no: number): Chunk[] {
    return this.chunkLists.get(no) ?? [];
  }

  /** One chunk, without the whole list read. */
  chunk(no: number, ordinal: number): Chunk | undefined {
    const [chunk] = ordinal < 0 ? [] : this.chunkLists.slice(no, ordinal, ordinal + 1);
    return chunk;
  }

  /** Whether no part is missing of the text and of the chunks; reads all of both. For audits. */
  isWhole(no: number): boolean {
    return this.texts.isWhole(no) && this.chunkLists.isWhole(no);
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
    const metadata = page.metadata === null ? null : JSON.stringify(page.metadata);
    this.rows.put(page.no, { ...page, metadata, byline: bylineOf(page.metadata) });
  }

  /** Delete everything that is the page's in these databases. */
  remove(page: Page): void {
    if (this.byUrl.get(urlKey(page.canonical_url)) === page.no) this.byUrl.remove(urlKey(page.canonical_url));
    if (page.title !== null) this.byTitle.remove(titleKey(page.title, page.no));
    this.chunkLists.remove(page.no);
    this.texts.remove(page.no);
    this.sectionLists.remove(page.no);
    this.feedContents.remove(page.no);
    removeAll(this.visits, [...this.visits.getKeys(pairsOf(page.no))]);
    this.rows.remove(page.no);
    this.removed.push(page.no);
  }

  putBody(no: number, text: string, sections: readonly Section[]): void {
    this.texts.put(no, text);
    this.sectionLists.put(no, [...sections]);
  }

  /** Close up what is left of a text that lacks a part: repair only. Without its beginning it counts as never fetched. */
  mendBody(no: number): void {
    const text = this.body(no);
    if (text === undefined) {
      this.texts.remove(no);
      this.sectionLists.remove(no);
    } else if (!this.texts.isWhole(no)) this.texts.put(no, text);
  }

  putVisit(no: number, seenAt: number): void {
    this.visits.put([no, seenAt], 0);
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

  /** Delete texts, chunk lists and visits of no page: repair only. Gives how many. */
  dropOrphans(): number {
    let dropped = 0;
    const drop = (owners: Iterable<number>, owned: { remove(no: number): void }) => {
      for (const no of new Set(owners)) {
        if (this.rows.doesExist(no)) continue;
        owned.remove(no);
        dropped++;
      }
    };
    for (const values of [this.texts, this.chunkLists]) drop(values.owners(), values);
    for (const database of [this.sectionLists, this.feedContents]) drop(database.getKeys(), database);
    return (
      dropped +
      removeAll(
        this.visits,
        [...this.visits.getKeys()].filter(([no]) => !this.rows.doesExist(no)),
      )
    );
  }

  /** The highest number of a row, 0 for none. */
  lastNumber(): number {
    return lastNumberOf(this.rows);
  }
}

function titleKey(title: string, no: number): [string, number] {
  return [hashKey(foldTitle(title)), no];
}

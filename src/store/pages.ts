/**
 * Page rows, texts and chunks. A row is small however long its page, because the text is stored separately.
 *
 * Databases: `pages` no → row; `bodies`, `body_parts` → text; `chunks`, `chunk_parts` → chunk list (long-values.ts);
 * `page_sections` no → sections; `merged_pages` no → no of the page that it became; `page_addresses` progress of the
 * last pass over all addresses (commands/readdress-pages.ts); `feed_contents` no → feed HTML in place of a page that
 * cannot be fetched; `new_texts` no → text of a changed own file, until it is indexed; `page_by_url` 16 bytes of
 * SHA-256(canonical URL) → no; `page_by_title` [hash of the folded title, no]. URLs are hashed because LMDB keys are
 * short.
 */
import { hash } from 'node:crypto';
import { bylineOf } from '../compute/text/byline.ts';
import { foldTitle } from '../domain/normalize-text.ts';
import type { Byline, Chunk, Page, Section } from '../domain/page.ts';
import { numberOf } from '../domain/values.ts';
import { entriesOf } from './environment.ts';
import { LongValues, longList, longText } from './long-values.ts';
import { hashKey, numbered, Records, urlKey } from './records.ts';

/** Metadata as JSON text preserves every key and lone surrogate. Rows of formats 1 and 2 may contain sections. */
type StoredPage = PageHead & { metadata: string | null; sections?: Section[] };
/** The last pass over all addresses: a hash of its settings, and its last page. */
interface AddressPass {
  settings: string;
  after: number;
}

/** The new text of an own file that changed. */
export interface NewText {
  body: string;
  content_hash: string;
  sections: Section[];
}

/** A row without metadata, which may be long and is not parsed. */
export type PageHead = Omit<Page, 'metadata'> & {
  /** Derived from the metadata; read it with `byline()`, which computes it for older rows. */
  byline?: Byline;
};

/** UTF-16 code units per part: about four passages. As UTF-8 a part fills two (ASCII) to six (CJK) LMDB pages. */
const textForm = longText('bodies', 'body_parts', 8000);
/** 64 chunks per part: about as many bytes as a part of a text. */
const chunkForm = longList<Chunk>('chunks', 'chunk_parts', 64);

export class PageReader extends Records {
  protected readonly rows = this.table<StoredPage, number>('pages', numbered);
  protected readonly texts = new LongValues(this.environment, textForm);
  protected readonly chunkLists = new LongValues(this.environment, chunkForm);
  protected readonly sectionLists = this.table<Section[], number>('page_sections', numbered);
  protected readonly feedContents = this.table<string, number>('feed_contents', { ...numbered, encoding: 'string' });
  protected readonly newTexts = this.table<NewText, number>('new_texts', numbered);
  protected readonly byUrl = this.table<number, Buffer>('page_by_url', { keyEncoding: 'binary' });
  protected readonly byTitle = this.table<number, [string, number]>('page_by_title');
  protected readonly merged = this.table<number, number>('merged_pages', numbered);
  protected readonly addresses = this.table<string | number, keyof AddressPass>('page_addresses');

  /** The number of a page id. For a merged page: that of the page it was merged into. Null if it is not a page id. */
  numberOfId(pageId: string): number | null {
    const no = numberOf('page', pageId);
    return no === null ? null : (this.becameOf(no) ?? no);
  }

  /** The page that a merged page became, else undefined. Merges lead only to newer pages, so the search ends. */
  becameOf(no: number): number | undefined {
    let found: number | undefined;
    for (let next = this.merged.get(no); next !== undefined; next = this.merged.get(next)) found = next;
    return found;
  }

  /** Progress of the pass under these settings: last page done. 0 if it has not begun. */
  addressesDoneTo(settings: string): number {
    return this.addresses.get('settings') === settings ? Number(this.addresses.get('after') ?? 0) : 0;
  }

  get(no: number): Page | undefined {
    const row = this.rows.get(no);
    if (row === undefined) return undefined;
    const { byline: _, ...page } = row;
    return { ...page, metadata: row.metadata === null ? null : JSON.parse(row.metadata) };
  }

  byline(page: PageHead): Byline {
    if (page.byline?.is !== undefined) return page.byline;
    return bylineOf({ ...page, metadata: this.get(page.no)?.metadata ?? null });
  }

  head(no: number): PageHead | undefined {
    return this.rows.get(no);
  }

  has(no: number): boolean {
    return this.rows.doesExist(no);
  }

  /** Pages by number, without parsed metadata. */
  *all(): Generator<StoredPage> {
    for (const { value } of this.rows.getRange()) yield value;
  }

  numbersAfter(after: number, limit: number): number[] {
    return [...this.rows.getKeys({ start: after + 1, limit })];
  }

  /** Newest first, without parsed metadata. */
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

  /** Pages with this title after folding, oldest first. */
  numbersByTitle(title: string, limit: number): number[] {
    const [key] = titleKey(title, 0);
    return [...this.byTitle.getKeys({ start: [key, 0], end: [key, Number.MAX_SAFE_INTEGER], limit })].map(
      ([, no]) => no,
    );
  }

  /** The text; undefined until fetched. */
  body(no: number): string | undefined {
    return this.texts.get(no);
  }

  hasBody(no: number): boolean {
    return this.texts.has(no);
  }

  /** Length in UTF-16 code units, read from the last part; undefined until fetched. */
  bodyLength(no: number): number | undefined {
    return this.texts.length(no);
  }

  bodyHead(no: number): string {
    return this.texts.head(no) ?? '';
  }

  /** Offsets in UTF-16 code units, clipped to the text. */
  bodySlice(no: number, from: number, to: number): string {
    return this.texts.slice(no, Math.max(0, from), to);
  }

  sections(no: number): Section[] {
    return this.sectionLists.get(no) ?? this.rows.get(no)?.sections ?? [];
  }

  /** HTML from the feed that added the page, until the page is fetched. */
  feedContent(no: number): string | undefined {
    return this.feedContents.get(no);
  }

  /** The text that replaces the stored one after its index job has run. */
  newText(no: number): NewText | undefined {
    return this.newTexts.get(no);
  }

  chunks(no: number): Chunk[] {
    return this.chunkLists.get(no) ?? [];
  }

  chunk(no: number, ordinal: number): Chunk | undefined {
    const [chunk] = ordinal < 0 ? [] : this.chunkLists.slice(no, ordinal, ordinal + 1);
    return chunk;
  }

  /** Whether the text matches `content_hash`. Reads all of it. For audits. */
  isUnchanged({ no, content_hash }: Pick<Page, 'no' | 'content_hash'>): boolean {
    const body = this.body(no);
    return body === undefined || content_hash === hash('sha256', body);
  }

  /** Whether text and chunks have all parts. Reads all of both. For audits. */
  isWhole(no: number): boolean {
    return this.texts.isWhole(no) && this.chunkLists.isWhole(no);
  }
}

export class PageTransactor extends PageReader {
  changed: Page[] = [];
  removed: number[] = [];

  put(page: Page, before: Page | undefined): void {
    if (before?.canonical_url !== page.canonical_url) {
      if (before !== undefined) this.#removeUrl(before);
      this.byUrl.put(urlKey(page.canonical_url), page.no);
    }
    if (before?.title !== page.title) {
      if (before !== undefined && before.title !== null) this.byTitle.remove(titleKey(before.title, page.no));
      if (page.title !== null) this.byTitle.put(titleKey(page.title, page.no), 0);
    }
    this.changed.push(page);
    const metadata = page.metadata === null ? null : JSON.stringify(page.metadata);
    this.rows.put(page.no, { ...page, metadata, byline: bylineOf(page) });
  }

  remove(page: Page): void {
    this.#removeUrl(page);
    if (page.title !== null) this.byTitle.remove(titleKey(page.title, page.no));
    this.chunkLists.remove(page.no);
    this.texts.remove(page.no);
    this.sectionLists.remove(page.no);
    this.feedContents.remove(page.no);
    this.newTexts.remove(page.no);
    this.rows.remove(page.no);
    this.removed.push(page.no);
  }

  #removeUrl({ no, canonical_url }: Pick<Page, 'no' | 'canonical_url'>): void {
    if (this.byUrl.get(urlKey(canonical_url)) === no) this.byUrl.remove(urlKey(canonical_url));
  }

  /** Remove the first page; its id leads to the second one from now on. */
  noteMerge(no: number, into: number): void {
    this.merged.put(no, into);
  }

  noteAddressesDone({ settings, after }: AddressPass): void {
    this.addresses.put('settings', settings);
    this.addresses.put('after', after);
  }

  putBody(no: number, text: string, sections: readonly Section[]): void {
    this.texts.put(no, text);
    this.sectionLists.put(no, [...sections]);
    this.newTexts.remove(no);
  }

  putNewText(no: number, text: NewText): void {
    this.newTexts.put(no, text);
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
}

function titleKey(title: string, no: number): [string, number] {
  return [hashKey(foldTitle(title)), no];
}

/**
 * What searching needs to know of every page, in columns in memory: which page a label belongs to, and what the filters ask.
 * A projection of the page rows: filled from the store at start, kept up by the commit feed, never written by anybody else.
 * About 48 bytes a page and 4 a label.
 */
import { asksWhenPublished, passesFilters, wasPublished } from '../compute/ranking/passes-filters.ts';
import { addBitRange, type Bitmap, createBitmap } from '../compute/structures/bitmap.ts';
import { longer } from '../compute/structures/longer.ts';
import { domainMatches } from '../compute/web/domain-match.ts';
import type { LabelRange, Page } from '../domain/page.ts';
import type { PageFilters } from '../domain/page-filters.ts';

/** The labels that may be among the results. */
export interface AllowedLabels {
  labels: Bitmap;
  count: number;
}

type PageColumns = Pick<Page, 'no' | 'domain' | 'first_seen_at' | 'last_seen_at' | 'first_label' | 'chunk_count'>;

export class Catalog {
  #pageOfLabel = new Uint32Array(1024);
  #firstLabel = new Uint32Array(1024);
  #chunkCount = new Uint32Array(1024);
  #firstSeen = new Float64Array(1024);
  #lastSeen = new Float64Array(1024);
  /** NaN where it is not known. */
  #published = new Float64Array(1024);
  #domainOfPage = new Uint32Array(1024);
  readonly #domains: string[] = [''];
  readonly #domainNumbers = new Map<string, number>();
  #pages = 0;
  #labels = 0;
  #liveLabels = 0;
  #flushedEnd = 0;
  /** Domains whose pages are being forgotten: none of them has labels here. */
  #hidden: readonly string[] = [];

  /** Number of labels that belong to a page now. */
  get liveLabels(): number {
    return this.#liveLabels;
  }

  /** One past the highest label seen. */
  get labelEnd(): number {
    return this.#labels;
  }

  /** One past the highest page number seen. */
  get pageEnd(): number {
    return this.#pages;
  }

  /** One past the highest label that the disk is known to have. */
  get flushedEnd(): number {
    return this.#flushedEnd;
  }

  /** The disk has every label below this one. */
  noteFlushed(labelEnd: number): void {
    this.#flushedEnd = Math.max(this.#flushedEnd, labelEnd);
  }

  /**
   * Whether the store cannot lose these labels any more. Index files may not have others: a start after a crash goes back to what the disk
   * had, and gives labels that were lost so to other texts.
   */
  isFlushed({ first, count }: LabelRange): boolean {
    return first + count <= this.#flushedEnd;
  }

  /** Note a page's row as it is now, and when it was published, ms; rows of one page in commit order. */
  apply(page: PageColumns, publishedAt: number | null): void {
    const { no } = page;
    this.#growPages(no + 1);
    if (this.#hidden.some((domain) => domainMatches(page.domain, domain))) this.#relabel(no, 0, 0);
    else this.#relabel(no, page.first_label, page.chunk_count);
    this.#firstSeen[no] = page.first_seen_at;
    this.#lastSeen[no] = page.last_seen_at;
    this.#published[no] = publishedAt ?? Number.NaN;
    this.#domainOfPage[no] = this.#domainNumber(page.domain);
  }

  /** The page is gone. */
  remove(no: number): void {
    if (no >= this.#pages) return;
    this.#relabel(no, 0, 0);
    this.#domainOfPage[no] = 0;
  }

  /** These domains are being forgotten, and no others: from now on no label belongs to a page of theirs. */
  hide(domains: readonly string[]): void {
    const added = domains.filter((domain) => !this.#hidden.includes(domain));
    this.#hidden = domains;
    for (const domain of added) for (const no of this.pagesUnder(domain)) this.#relabel(no, 0, 0);
  }

  /** The pages of a domain and those below it, ascending; hidden ones, too. */
  pagesUnder(domain: string): number[] {
    const wanted = this.#domains.map((name) => domainMatches(name, domain));
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) if (wanted[this.#domainOfPage[no]]) found.push(no);
    return found;
  }

  /** The pages that have no labels, ascending; hidden ones are none of them. */
  pagesWithoutLabels(): number[] {
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) {
      const domain = this.#domainOfPage[no];
      if (domain === 0 || this.#chunkCount[no] > 0) continue;
      if (!this.#hidden.some((hidden) => domainMatches(this.#domains[domain], hidden))) found.push(no);
    }
    return found;
  }

  /** The page that a label belongs to, or 0 when it belongs to none any more. */
  pageOf(label: number): number {
    return label < this.#labels ? this.#pageOfLabel[label] : 0;
  }

  /** When the page was last visited, ms; 0 for an unknown page. */
  lastSeenAt(no: number): number {
    return no < this.#pages ? this.#lastSeen[no] : 0;
  }

  /** Whether one page passes the filters: the same answer as its labels in `allowed`. */
  passes(no: number, filters: PageFilters): boolean {
    const domain = this.#domains[this.#domainOfPage[no]];
    const times = { first_seen_at: this.#firstSeen[no], last_seen_at: this.#lastSeen[no] };
    return passesFilters({ no, domain, ...times }, () => this.#publishedAt(no), filters);
  }

  /** The labels of a page's chunks; the first one stands for the page's content. None for an unknown page. */
  labelsOf(no: number): LabelRange {
    return no < this.#pages ? { first: this.#firstLabel[no], count: this.#chunkCount[no] } : { first: 0, count: 0 };
  }

  /** Every label that belongs to a page now. */
  live(): Bitmap {
    const labels = createBitmap(this.#labels);
    for (let no = 0; no < this.#pages; no++) addBitRange(labels, this.#firstLabel[no], this.#chunkCount[no]);
    return labels;
  }

  /**
   * The labels that pass the filters, or null when there is no filter: everything live passes. `passes` for all pages at once: over the
   * columns, and a domain is compared once, however many pages it has.
   */
  allowed(filters: PageFilters): AllowedLabels | null {
    const { domain, after, before, pages } = filters;
    const isByDate = asksWhenPublished(filters);
    if (domain === null && after === null && before === null && pages === null && !isByDate) return null;
    const wanted = this.#domains.map((name) => domain === null || domainMatches(name, domain));
    const labels = createBitmap(this.#labels);
    let count = 0;
    for (let no = 0; no < this.#pages; no++) {
      const chunks = this.#chunkCount[no];
      if (chunks === 0 || (pages !== null && !pages.has(no)) || !wanted[this.#domainOfPage[no]]) continue;
      if (after !== null && this.#lastSeen[no] < after) continue;
      if (before !== null && this.#firstSeen[no] >= before) continue;
      if (isByDate && !wasPublished(this.#publishedAt(no), filters)) continue;
      addBitRange(labels, this.#firstLabel[no], chunks);
      count += chunks;
    }
    return { labels, count };
  }

  #publishedAt(no: number): number | null {
    const at = this.#published[no];
    return Number.isNaN(at) ? null : at;
  }

  #relabel(no: number, first: number, count: number): void {
    if (this.#firstLabel[no] === first && this.#chunkCount[no] === count) return;
    this.#assign(this.#firstLabel[no], this.#chunkCount[no], 0);
    this.#assign(first, count, no);
    this.#liveLabels += count - this.#chunkCount[no];
    this.#firstLabel[no] = first;
    this.#chunkCount[no] = count;
  }

  #assign(first: number, count: number, page: number): void {
    if (count === 0) return;
    this.#pageOfLabel = grown(this.#pageOfLabel, first + count);
    this.#labels = Math.max(this.#labels, first + count);
    for (let label = first; label < first + count; label++) this.#pageOfLabel[label] = page;
  }

  #growPages(count: number): void {
    this.#pages = Math.max(this.#pages, count);
    this.#firstLabel = grown(this.#firstLabel, count);
    this.#chunkCount = grown(this.#chunkCount, count);
    this.#firstSeen = grown(this.#firstSeen, count);
    this.#lastSeen = grown(this.#lastSeen, count);
    this.#published = grown(this.#published, count);
    this.#domainOfPage = grown(this.#domainOfPage, count);
  }

  #domainNumber(domain: string): number {
    const known = this.#domainNumbers.get(domain);
    if (known !== undefined) return known;
    this.#domainNumbers.set(domain, this.#domains.length);
    return this.#domains.push(domain) - 1;
  }
}

function grown<Column extends Uint32Array | Float64Array>(column: Column, length: number): Column {
  return length <= column.length ? column : longer(column, Math.max(length, column.length * 2));
}

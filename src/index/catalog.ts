/**
 * In-memory columns for searching: each label's page, and the filters' fields. A projection of page rows, filled at start and updated by
 * the commit feed. About 48 bytes per page and 4 per label.
 */
import { asksWhenPublished, passesFilters, wasPublished } from '../compute/ranking/passes-filters.ts';
import { addBitRange, type Bitmap, createBitmap } from '../compute/structures/bitmap.ts';
import { longer } from '../compute/structures/longer.ts';
import { domainMatches } from '../compute/web/domain-match.ts';
import type { LabelRange, Page, PageFilters } from '../domain/page.ts';

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
  /** NaN if unknown. */
  #published = new Float64Array(1024);
  #domainOfPage = new Uint32Array(1024);
  readonly #domains: string[] = [''];
  readonly #domainNumbers = new Map<string, number>();
  #pages = 0;
  #labels = 0;
  #liveLabels = 0;
  #flushedEnd = 0;
  /** Domains being forgotten: their pages have no labels here. */
  #hidden: readonly string[] = [];

  get liveLabels(): number {
    return this.#liveLabels;
  }

  get labelEnd(): number {
    return this.#labels;
  }

  get pageEnd(): number {
    return this.#pages;
  }

  get flushedEnd(): number {
    return this.#flushedEnd;
  }

  /** All labels below this one are on disk. */
  noteFlushed(labelEnd: number): void {
    this.#flushedEnd = Math.max(this.#flushedEnd, labelEnd);
  }

  /**
   * Whether the store cannot lose these labels. Index files must not contain others: after a crash the store reassigns lost labels to
   * other texts.
   */
  isFlushed({ first, count }: LabelRange): boolean {
    return first + count <= this.#flushedEnd;
  }

  /** Apply a page's row and publication time, ms; rows of a page in commit order. */
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

  remove(no: number): void {
    if (no >= this.#pages) return;
    this.#relabel(no, 0, 0);
    this.#domainOfPage[no] = 0;
  }

  /** Hide exactly these domains: none of their pages has labels. */
  hide(domains: readonly string[]): void {
    const added = domains.filter((domain) => !this.#hidden.includes(domain));
    this.#hidden = domains;
    for (const domain of added) for (const no of this.pagesUnder(domain)) this.#relabel(no, 0, 0);
  }

  /** Pages of a domain and its subdomains, ascending, including hidden ones. */
  pagesUnder(domain: string): number[] {
    const wanted = this.#domains.map((name) => domainMatches(name, domain));
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) if (wanted[this.#domainOfPage[no]]) found.push(no);
    return found;
  }

  /** Domains with a part that begins so, other than the last one; those with most searchable pages first. */
  domainsBeginning(beginning: string, limit: number): { domain: string; pages: number }[] {
    const found: number[] = [];
    for (const [number, domain] of this.#domains.entries()) {
      const at = domain.startsWith(beginning) ? 0 : domain.indexOf(`.${beginning}`);
      if (at === 0 || (at > 0 && domain.lastIndexOf('.') > at)) found.push(number);
    }
    if (found.length === 0) return [];
    const pages = new Uint32Array(this.#domains.length);
    for (let no = 0; no < this.#pages; no++) if (this.#chunkCount[no] > 0) pages[this.#domainOfPage[no]]++;
    return found
      .filter((number) => pages[number] > 0)
      .sort((a, b) => pages[b] - pages[a])
      .slice(0, limit)
      .map((number) => ({ domain: this.#domains[number], pages: pages[number] }));
  }

  /** Ascending, without hidden pages. */
  pagesWithoutLabels(): number[] {
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) {
      const domain = this.#domainOfPage[no];
      if (domain === 0 || this.#chunkCount[no] > 0) continue;
      if (!this.#hidden.some((hidden) => domainMatches(this.#domains[domain], hidden))) found.push(no);
    }
    return found;
  }

  /** 0 if it belongs to no page. */
  pageOf(label: number): number {
    return label < this.#labels ? this.#pageOfLabel[label] : 0;
  }

  /** ms; 0 for an unknown page. */
  lastSeenAt(no: number): number {
    return no < this.#pages ? this.#lastSeen[no] : 0;
  }

  /** Agrees with `allowed`. */
  passes(no: number, filters: PageFilters): boolean {
    const domain = this.#domains[this.#domainOfPage[no]];
    const times = { first_seen_at: this.#firstSeen[no], last_seen_at: this.#lastSeen[no] };
    return passesFilters({ no, domain, ...times }, () => this.#publishedAt(no), filters);
  }

  /** The first label represents the page's content. None for an unknown page. */
  labelsOf(no: number): LabelRange {
    return no < this.#pages ? { first: this.#firstLabel[no], count: this.#chunkCount[no] } : { first: 0, count: 0 };
  }

  live(): Bitmap {
    const labels = createBitmap(this.#labels);
    for (let no = 0; no < this.#pages; no++) addBitRange(labels, this.#firstLabel[no], this.#chunkCount[no]);
    return labels;
  }

  /** Labels that pass the filters, or null without a filter: all live ones. `passes` for all pages at once, with one comparison per domain. */
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

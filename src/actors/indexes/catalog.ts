/** Columns of page rows in memory: some 76 bytes per page, 4 per label, and all visits of pages with more than two. */
import { asksWhenPublished, factsOf, isFact, wasPublished } from '../../compute/ranking/passes-filters.ts';
import { addBit, addBitRange, type Bitmap, createBitmap, hasBit } from '../../compute/structures/bitmap.ts';
import { longer } from '../../compute/structures/longer.ts';
import { isVisitedWithin, type VisitTimes } from '../../compute/structures/visit-times.ts';
import { languageCode } from '../../compute/text/language-tags.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import { foldTitle } from '../../domain/normalize-text.ts';
import type { FilteredByline, LabelRange, Page, PageFilters } from '../../domain/page.ts';
import { pageFacts } from '../../domain/query-clause.ts';

export interface AllowedLabels {
  labels: Bitmap;
  count: number;
}

type PageColumns = VisitTimes &
  Pick<
    Page,
    'no' | 'domain' | 'visit_count' | 'source' | 'language' | 'passage_languages' | 'first_label' | 'chunk_count'
  >;

const factNames = ['site', 'language', ...pageFacts] as const;
type FactName = (typeof factNames)[number];

export class Catalog {
  #pageOfLabel = new Uint32Array(1024);
  #firstLabel = new Uint32Array(1024);
  #chunkCount = new Uint32Array(1024);
  #firstSeen = new Float64Array(1024);
  #lastSeen = new Float64Array(1024);
  /** Only of pages with more than two visits. */
  readonly #visitTimes: (Uint8Array | undefined)[] = [];
  /** NaN if unknown. */
  #published = new Float64Array(1024);
  #visits = new Uint32Array(1024);
  readonly #facts = Object.fromEntries(factNames.map((name) => [name, new FactColumn()])) as Record<
    FactName,
    FactColumn
  >;
  #pages = 0;
  #labels = 0;
  #liveLabels = 0;
  #flushedEnd = 0;
  /** Domains being forgotten: pages of these domains have no labels in the catalog. */
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

  /** Note that all labels below this one are on disk. */
  noteFlushed(labelEnd: number): void {
    this.#flushedEnd = Math.max(this.#flushedEnd, labelEnd);
  }

  /** Whether these labels are durable. Index files must contain no others: after a crash they may be reassigned. */
  isFlushed({ first, count }: LabelRange): boolean {
    return first + count <= this.#flushedEnd;
  }

  /** Apply a page's row and byline. The rows of a page must come in commit order. */
  apply(page: PageColumns, byline: FilteredByline): void {
    const { no } = page;
    this.#growPages(no + 1);
    if (this.#hidden.some((domain) => domainMatches(page.domain, domain))) this.#relabel(no, 0, 0);
    else this.#relabel(no, page.first_label, page.chunk_count);
    this.#firstSeen[no] = page.first_seen_at;
    this.#lastSeen[no] = page.last_seen_at;
    this.#visitTimes[no] = page.visits;
    this.#published[no] = byline.published_at ?? Number.NaN;
    this.#visits[no] = page.visit_count;
    const known = page.language == null ? [] : [languageCode(page.language)];
    const facts = { ...factsOf(page, byline), site: [page.domain], language: page.passage_languages ?? known };
    for (const name of factNames) this.#facts[name].set(no, facts[name]);
  }

  remove(no: number): void {
    if (no >= this.#pages) return;
    this.#relabel(no, 0, 0);
    this.#facts.site.set(no, []);
    this.#visitTimes[no] = undefined;
  }

  /** Hide exactly these domains: their pages get no labels. */
  hide(domains: readonly string[]): void {
    const added = domains.filter((domain) => !this.#hidden.includes(domain));
    this.#hidden = domains;
    for (const domain of added) for (const no of this.pagesUnder(domain)) this.#relabel(no, 0, 0);
  }

  /** Pages of a domain and its subdomains, ascending, including hidden ones. */
  pagesUnder(domain: string): number[] {
    const isUnder = this.#facts.site.having((name) => domainMatches(name, domain));
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) if (isUnder(no)) found.push(no);
    return found;
  }

  /** Domains with a part, except the last, that begins so. Those with the most searchable pages come first. */
  domainsBeginning(beginning: string, limit: number): { domain: string; pages: number }[] {
    const isWanted = this.#facts.site.having((domain) => {
      const at = domain.startsWith(beginning) ? 0 : domain.indexOf(`.${beginning}`);
      return at === 0 || (at > 0 && domain.lastIndexOf('.') > at);
    });
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) if (this.#chunkCount[no] > 0 && isWanted(no)) found.push(no);
    const counted = this.#facts.site.count(Uint32Array.from(found)).sort(([, a], [, b]) => b - a);
    return counted.slice(0, limit).map(([domain, pages]) => ({ domain, pages }));
  }

  /** Ascending, without hidden pages. */
  pagesWithoutLabels(): number[] {
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) {
      const [domain] = this.#facts.site.of(no);
      if (domain === undefined || this.#chunkCount[no] > 0) continue;
      if (!this.#hidden.some((hidden) => domainMatches(domain, hidden))) found.push(no);
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

  timesOf(no: number): VisitTimes {
    return { first_seen_at: this.#firstSeen[no], last_seen_at: this.#lastSeen[no], visits: this.#visitTimes[no] };
  }

  visits(no: number): number {
    return this.#visits[no];
  }

  /** How many of the given pages have each value. Spellings that differ only by case are merged. */
  countFact(fact: FactName, pages: Uint32Array): [value: string, pages: number][] {
    return this.#facts[fact].count(pages);
  }

  /** The first label identifies the page's content. Empty for an unknown page. */
  labelsOf(no: number): LabelRange {
    return no < this.#pages ? { first: this.#firstLabel[no], count: this.#chunkCount[no] } : { first: 0, count: 0 };
  }

  /** Pages with one of these labels, ascending. */
  pagesHaving(labels: Bitmap): Uint32Array {
    const found: number[] = [];
    for (let no = 0; no < this.#pages; no++) {
      const end = this.#firstLabel[no] + this.#chunkCount[no];
      let label = this.#firstLabel[no];
      while (label < end && !hasBit(labels, label)) label++;
      if (label < end) found.push(no);
    }
    return Uint32Array.from(found);
  }

  live(): Bitmap {
    const labels = createBitmap(this.#labels);
    for (let no = 0; no < this.#pages; no++) addBitRange(labels, this.#firstLabel[no], this.#chunkCount[no]);
    return labels;
  }

  /** Live labels that pass the filters; null without a filter: all live labels. */
  allowed(filters: PageFilters): AllowedLabels | null {
    const { domain, after, before, pages } = filters;
    const isByFacts = asksWhenPublished(filters) || pageFacts.some((fact) => filters[fact] != null);
    if (domain === null && after === null && before === null && pages === null && !isByFacts) return null;
    const passing = this.pagesPassing(filters);
    const labels = createBitmap(this.#labels);
    let count = 0;
    for (let no = 0; no < this.#pages; no++) {
      if (!hasBit(passing, no)) continue;
      addBitRange(labels, this.#firstLabel[no], this.#chunkCount[no]);
      count += this.#chunkCount[no];
    }
    return { labels, count };
  }

  /** Pages with labels that pass the filters. Compares each domain and fact once. */
  pagesPassing(filters: PageFilters): Bitmap {
    const { domain, after, before, pages } = filters;
    const isByDate = asksWhenPublished(filters);
    const isBySeen = after !== null || before !== null;
    const facts = pageFacts.flatMap((fact) => {
      const text = filters[fact];
      return text == null ? [] : [this.#facts[fact].having((value) => isFact(fact, value, text))];
    });
    if (domain !== null) facts.push(this.#facts.site.having((name) => domainMatches(name, domain)));
    const passing = createBitmap(this.#pages);
    for (let no = 0; no < this.#pages; no++) {
      const chunks = this.#chunkCount[no];
      if (chunks === 0 || (pages !== null && !pages.has(no)) || !facts.every((has) => has(no))) continue;
      if (isBySeen && !isVisitedWithin(this.timesOf(no), after, before)) continue;
      if (isByDate && !wasPublished(this.#publishedAt(no), filters)) continue;
      addBit(passing, no);
    }
    return passing;
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
    while (this.#visitTimes.length < count) this.#visitTimes.push(undefined);
    this.#published = grown(this.#published, count);
    this.#visits = grown(this.#visits, count);
    for (const name of factNames) this.#facts[name].grow(count);
  }
}

/** The values of one fact. Each page stores the number of a value list, and equal pages share a list. */
class FactColumn {
  #numbers = new Uint32Array(1024);
  readonly #lists: string[][] = [[]];
  readonly #folded: string[][] = [[]];
  readonly #known = new Map([['', 0]]);

  grow(count: number): void {
    this.#numbers = grown(this.#numbers, count);
  }

  set(no: number, values: readonly string[]): void {
    const key = values.join('\0');
    let number = this.#known.get(key);
    if (number === undefined) {
      number = this.#lists.push([...values]) - 1;
      this.#folded.push(values.map(foldTitle));
      this.#known.set(key, number);
    }
    this.#numbers[no] = number;
  }

  of(no: number): string[] {
    return this.#lists[this.#numbers[no]];
  }

  /** Returns whether a page has a wanted value; values are folded. */
  having(isWanted: (value: string) => boolean): (no: number) => boolean {
    const wanted = this.#folded.map((values) => values.some(isWanted));
    return (no) => wanted[this.#numbers[no]];
  }

  count(pages: Uint32Array): [value: string, pages: number][] {
    const counts = new Uint32Array(this.#lists.length);
    for (const no of pages) counts[this.#numbers[no]]++;
    const found = new Map<string, [value: string, pages: number]>();
    for (const [number, count] of counts.entries()) {
      if (count === 0) continue;
      for (const [at, folded] of this.#folded[number].entries()) {
        if (this.#folded[number].indexOf(folded) < at) continue;
        const known = found.get(folded);
        if (known === undefined) found.set(folded, [this.#lists[number][at], count]);
        else known[1] += count;
      }
    }
    return [...found.values()];
  }
}

function grown<Column extends Uint32Array | Float64Array>(column: Column, length: number): Column {
  return length <= column.length ? column : longer(column, Math.max(length, column.length * 2));
}

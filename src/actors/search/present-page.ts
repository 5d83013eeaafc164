/** Fills ranked pages with what the store knows of them: the passages that matched, and the facts of the page. */
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import { textFragmentLink } from '../../compute/web/text-fragment.ts';
import { idOf, isoOf, numberOf } from '../../domain/ids.ts';
import { isBare } from '../../domain/page.ts';
import type { PageResult } from '../../domain/search.ts';
import { type Marked, maxSnippet } from '../../engine/highlight.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import { clusterRefOf, pageDetailsOf } from '../jobs/page-details.ts';
import type { ExplainPlace } from './explain-place.ts';
import type { OrderedPage, Ranking } from './rank-query.ts';

export interface Presentation {
  chunks_per_page: number;
  /** Pages that hold every phrase that the query quotes. */
  quoting: ReadonlySet<number>;
  explain: ExplainPlace;
  /** Of a passage by its label. */
  relevanceOf: Ranking['relevanceOf'];
  readText: ReadText;
}

/** A stretch of a page's text, UTF-16 offsets. */
export type ReadText = (pageNo: number, from: number, to: number) => string;

/** Reads texts for one search: what several passages of a page have in common, its beginning, is read once. */
export function textsOf({ pages }: StoreReader): ReadText {
  const heads = new Map<number, string>();
  return (pageNo, from, to) => {
    const head = heads.get(pageNo) ?? pages.bodyHead(pageNo);
    heads.set(pageNo, head);
    return to <= head.length ? head.slice(from, to) : pages.bodySlice(pageNo, from, to);
  };
}

/** A result, or null for a page that has gone since it was ranked. */
export function presentPage(
  reader: StoreReader,
  ordered: OrderedPage,
  { chunks_per_page, quoting, explain, relevanceOf, readText }: Presentation,
): PageResult | null {
  const page = reader.pages.head(ordered.page_no);
  if (page === undefined) return null;
  const shown = ordered.hits.length > 0 ? ordered.hits.slice(0, chunks_per_page) : firstChunks(page, chunks_per_page);
  const hits = shown.flatMap(({ label, score }) => {
    const ordinal = label - page.first_label;
    const chunk = reader.pages.chunk(page.no, ordinal);
    // Indexed anew since the search; or there is no text, and no passage of it.
    if (chunk === undefined || isBare(chunk)) return [];
    const text = readText(page.no, chunk.char_start, chunk.char_end);
    const relevance = rounded(relevanceOf(label));
    const passage = { chunk_id: idOf('chunk', label), ordinal, char_start: chunk.char_start, text, score, relevance };
    return [
      {
        ...passage,
        link: page.canonical_url,
        ...markedBy(text, { highlights: [], snippet: { start: 0, end: Math.min(text.length, maxSnippet) } }),
      },
    ];
  });
  return {
    page_id: idOf('page', page.no),
    canonical_url: page.canonical_url,
    title: page.title,
    domain: page.domain,
    first_seen_at: isoOf(page.first_seen_at),
    visit_count: page.visit_count,
    ...pageDetailsOf(reader, page),
    score: ordered.score,
    relevance: rounded(ordered.relevance),
    cluster: clusterRefOf(reader, page.no),
    chunks: hits,
    exact_match: ordered.exact === 'url' || ordered.exact === 'title' || quoting.has(page.no),
    why: explain(ordered),
  };
}

/** Of a text before a passage that is asked whether it has the passage's first words, too; UTF-16 units. */
const lookedBehind = 32_768;

/** The results with links that open their pages at what is shown of their passages. */
export function linkPassages(readText: ReadText, results: readonly PageResult[]): PageResult[] {
  return results.map(({ chunks, ...result }) => {
    const no = numberOf('page', result.page_id) ?? 0;
    const linked = chunks.map(({ char_start, snippet, ...chunk }) => {
      const from = Math.max(0, char_start - lookedBehind);
      const known = readText(no, from, char_start + chunk.text.length);
      const at = char_start - from;
      const shown = { start: at + snippet.start, end: at + snippet.end };
      return { ...chunk, char_start, snippet, link: textFragmentLink(chunk.link, known, shown) };
    });
    return { ...result, chunks: linked };
  });
}

/** A passage's fields that say where the query's words are in it. */
export function markedBy(text: string, { highlights, snippet }: Marked) {
  return { highlights, snippet: { ...snippet, text: text.slice(snippet.start, snippet.end) } };
}

/** To three digits: what is told of a probability that is known to a twentieth. */
function rounded(relevance: number | null): number | null {
  return relevance === null ? null : Math.round(relevance * 1000) / 1000;
}

/** A page found by its title or URL alone begins with its first passages. */
function firstChunks({ first_label, chunk_count }: PageHead, count: number): FusedHit[] {
  return Array.from({ length: Math.min(count, chunk_count) }, (_, ordinal) => ({
    label: first_label + ordinal,
    score: 0,
  }));
}

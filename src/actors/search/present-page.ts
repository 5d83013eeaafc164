/** Adds stored facts and matching passages to ranked pages. */
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import { isBare } from '../../domain/page.ts';
import type { PageResult } from '../../domain/search.ts';
import { idOf, isoOf } from '../../domain/values.ts';
import { maxSnippet } from '../../engine/highlight.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { MarkedPassage } from '../../threads/search-thread.ts';
import { clusterRefOf, pageDetailsOf } from '../system/list-pages.ts';
import type { OrderedPage, Ranking } from './rank-query.ts';

export interface Presentation {
  chunks_per_page: number;
  quoting: ReadonlySet<number>;
  explain: ExplainPlace;
  relevanceOf: Ranking['relevanceOf'];
  readText: ReadText;
}

/** A slice of a page's text, UTF-16 offsets. */
export type ReadText = (page: Pick<PageHead, 'no' | 'first_label'>, from: number, to: number) => string;

/** Caches the beginning of each page, which its passages share, for one search. */
export function textsOf({ pages }: StoreReader): ReadText {
  const heads = new Map<number, string>();
  return ({ no, first_label }, from, to) => {
    const head = heads.get(first_label) ?? pages.bodyHead(no);
    heads.set(first_label, head);
    return to <= head.length ? head.slice(from, to) : pages.bodySlice(no, from, to);
  };
}

/** Null if the page is gone. */
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
    // Indexed again meanwhile, or a page without text.
    if (chunk === undefined || isBare(chunk)) return [];
    const text = readText(page, chunk.char_start, chunk.char_end);
    const relevance = rounded(relevanceOf(label));
    const passage = { chunk_id: idOf('chunk', label), ordinal, char_start: chunk.char_start, text, score, relevance };
    const snippet = { start: 0, end: Math.min(text.length, maxSnippet) };
    return [{ ...passage, ...markedBy(text, { highlights: [], snippet, link: page.canonical_url }) }];
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
    tags: reader.pages.byline(page).tags,
    chunks: hits,
    exact_match: ordered.exact === 'url' || ordered.exact === 'title' || quoting.has(page.no),
    why: explain(ordered),
    duplicates: (ordered.duplicates ?? []).flatMap((no) => {
      const { canonical_url, title } = reader.pages.head(no) ?? {};
      return canonical_url === undefined ? [] : [{ page_id: idOf('page', no), canonical_url, title: title ?? null }];
    }),
  };
}

export function markedBy(text: string, { snippet, ...marked }: MarkedPassage) {
  return { ...marked, snippet: { ...snippet, text: text.slice(snippet.start, snippet.end) } };
}

function rounded(relevance: number | null): number | null {
  return relevance === null ? null : Math.round(relevance * 1000) / 1000;
}

/** Passages of a page that was found by title or URL only. */
function firstChunks({ first_label, chunk_count }: PageHead, count: number): FusedHit[] {
  return Array.from({ length: Math.min(count, chunk_count) }, (_, ordinal) => ({
    label: first_label + ordinal,
    score: 0,
  }));
}

type ExplainPlace = (page: OrderedPage) => PageResult['why'];

export function placeExplainer({ retrieved, scored }: Pick<Ranking, 'retrieved' | 'scored'>): ExplainPlace {
  const byKeywords = ranksOf(retrieved.sparse.labels);
  const byVectors = ranksOf(retrieved.dense.labels);
  return ({ exact, hits }) => ({
    exact,
    keyword_rank: bestRank(hits, byKeywords),
    vector_rank: bestRank(hits, byVectors),
    reranked: hits.length > 0 && scored.has(hits[0].label),
  });
}

function ranksOf(labels: Uint32Array): ReadonlyMap<number, number> {
  return new Map(Array.from(labels, (label, place) => [label, place + 1]));
}

function bestRank(hits: OrderedPage['hits'], ranks: ReadonlyMap<number, number>): number | null {
  const best = hits.reduce((least, { label }) => Math.min(least, ranks.get(label) ?? least), Number.POSITIVE_INFINITY);
  return Number.isFinite(best) ? best : null;
}

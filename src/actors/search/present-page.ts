/** Fills ranked pages with what the store knows of them: the passages that matched, and the facts of the page. */
import { holdsPhrases } from '../../compute/ranking/exact-query.ts';
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import { idOf, isoOf } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import type { PageResult } from '../../domain/search.ts';
import type { StoreReader } from '../../store/store.ts';
import type { OrderedPage } from './rank-query.ts';

export interface Presentation {
  chunks_per_page: number;
  /** Folded phrases that the query quotes. */
  phrases: readonly string[];
}

/** A result, or null for a page that has gone since it was ranked. */
export function presentPage(
  reader: StoreReader,
  ordered: OrderedPage,
  { chunks_per_page, phrases }: Presentation,
): PageResult | null {
  const page = reader.pages.get(ordered.page_no);
  if (page === undefined) return null;
  const body = reader.pages.body(page.no) ?? '';
  const chunks = reader.pages.chunks(page.no);
  const shown = ordered.hits.length > 0 ? ordered.hits : firstChunks(page);
  const hits = shown.slice(0, chunks_per_page).flatMap(({ label, score }) => {
    const ordinal = label - page.first_label;
    const chunk = chunks[ordinal];
    if (chunk === undefined) return []; // indexed anew since the search
    const text = body.slice(chunk.char_start, chunk.char_end);
    return [{ chunk_id: idOf('chunk', label), ordinal, char_start: chunk.char_start, text, score }];
  });
  return {
    page_id: idOf('page', page.no),
    canonical_url: page.canonical_url,
    title: page.title,
    domain: page.domain,
    first_seen_at: isoOf(page.first_seen_at),
    visit_count: page.visit_count,
    score: ordered.score,
    cluster: clusterRefOf(reader, page.no),
    chunks: hits,
    exact_match: ordered.exact || holdsPhrases(`${page.title ?? ''}\n${body}`, phrases),
  };
}

function clusterRefOf({ clusters }: StoreReader, pageNo: number): PageResult['cluster'] {
  const cluster = clusters.ofPage(pageNo)?.cluster;
  return cluster === undefined ? null : { id: idOf('cluster', cluster.no), label: cluster.label };
}

/** A page found by its title or URL alone begins with its first passages. */
function firstChunks(page: Page): FusedHit[] {
  return Array.from({ length: page.chunk_count }, (_, ordinal) => ({ label: page.first_label + ordinal, score: 0 }));
}

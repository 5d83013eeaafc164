/** What is told of a page wherever it is shown. */
import { readMinutes } from '../../compute/text/read-minutes.ts';
import { idOf, isoOf } from '../../domain/ids.ts';
import type { ClusterRef, PageDetails } from '../../domain/page.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';

/** UTF-16 units of a word with what separates it from the next: of pages that an earlier version indexed, whose words were not counted. */
const usualWordLength = 6;

export function pageDetailsOf({ pages }: Pick<StoreReader, 'pages'>, page: PageHead): PageDetails {
  const { author, published_at, site_name, declared_language } = pages.byline(page);
  const language = page.language ?? declared_language;
  const words = page.word_count ?? Math.round((pages.bodyLength(page.no) ?? 0) / usualWordLength);
  return {
    author,
    published_at: published_at === null ? null : isoOf(published_at),
    language,
    site_name,
    read_minutes: readMinutes(words, language),
  };
}

export function clusterRefOf({ clusters }: Pick<StoreReader, 'clusters'>, pageNo: number): ClusterRef | null {
  const cluster = clusters.ofPage(pageNo)?.cluster;
  return cluster === undefined ? null : { id: idOf('cluster', cluster.no), label: cluster.label };
}

/**
 * The catalog in step with the store: filled at the start, then told what each commit changed as soon as readers see it, and which labels
 * are safe when the disk has them.
 */
import { Catalog } from '../../index/catalog.ts';
import type { PageHead } from '../../store/pages.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitFeed } from '../system/commit-feed.ts';

/** Fill a catalog from the store and keep it so until `close`. Pages under a domain that is being forgotten are hidden. */
export function openLiveCatalog(reader: StoreReader, feed: CommitFeed): { catalog: Catalog; close: () => void } {
  const catalog = new Catalog();
  const hideForgotten = () =>
    catalog.hide(reader.blacklist.purging().flatMap(({ kind, pattern }) => (kind === 'domain' ? [pattern] : [])));
  hideForgotten();
  const apply = (page: PageHead) => catalog.apply(page, reader.pages.byline(page).published_at);
  for (const page of reader.pages.all()) apply(page);
  catalog.noteFlushed(catalog.labelEnd);
  const stopApplying = feed.subscribe('visible', ({ pages, removedPages, rules }) => {
    if (rules.length > 0) hideForgotten();
    for (const page of pages) apply(page);
    for (const no of removedPages) catalog.remove(no);
  });
  const stopNoting = feed.subscribe('durable', ({ pages }) => {
    for (const { first_label, chunk_count } of pages) catalog.noteFlushed(first_label + chunk_count);
  });
  const close = () => {
    stopApplying();
    stopNoting();
  };
  return { catalog, close };
}

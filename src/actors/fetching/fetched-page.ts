/** A text that was read for a page, as the store takes it. */
import { hash } from 'node:crypto';
import type { FetchedPage } from '../../commands/store-fetched.ts';
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import type { PageFacts } from '../../domain/page-facts.ts';

/** Extraction may cut a pair of surrogates in two; a half of one has no UTF-8 and becomes U+FFFD. */
export function fetchedPage(
  page_no: number,
  final: FetchedPage['final'],
  read: ExtractedPage & PageFacts,
): FetchedPage {
  const body = read.text.toWellFormed();
  const title = read.title?.toWellFormed() ?? null;
  return { page_no, final, title, body, content_hash: hash('sha256', body), sections: read.sections, facts: read };
}

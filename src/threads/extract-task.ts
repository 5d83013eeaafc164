/** Thread task: the readable text of a page's HTML. Run in a work pool, with a time limit and a heap limit. */
import { type ExtractedPage, extractHtml } from '../compute/extract-html.ts';

/** Errors: ExtractionLimitError, of which only name, message and `code` cross the thread border. */
export function extract({ html, url }: { html: string; url: string }): ExtractedPage {
  return extractHtml(html, url);
}

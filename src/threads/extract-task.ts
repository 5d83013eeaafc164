/** Thread task: the readable text of a page's HTML. Run in a work pool, with a time limit and a heap limit. */
import { type ExtractedPage, ExtractionLimitError, extractHtml } from '../compute/extract-html.ts';

/**
 * Errors: an Error with the message of ExtractionLimitError and `cause: {code: 'extraction_limit'}`. An error that crosses
 * threads keeps its message and its cause; its class and its own properties are lost.
 */
export function extract({ html, url }: { html: string; url: string }): ExtractedPage {
  try {
    return extractHtml(html, url);
  } catch (error) {
    if (!(error instanceof ExtractionLimitError)) throw error;
    throw new Error(error.message, { cause: { code: error.code } });
  }
}

/** Answers with page text: passages of a search, parts of a page. Pure. */
import type { AskedPage, AskResponse, Quote } from '../domain/ask.ts';
import { countLines, noResultsText } from '../domain/no-results-text.ts';
import type { PageResponse } from '../domain/page.ts';
import type { PageResult, SearchResponse, SearchSort } from '../domain/search.ts';
import {
  type Answer,
  answerBytes,
  bytesIn,
  bytesOf,
  cut,
  detailsOf,
  endWithin,
  fitting,
  linesOf,
  pageLine,
  someOf,
  withoutEmpty,
} from './answer.ts';

/** Max passages per page, so that other pages fit, too. */
const maxPassages = 5;

/** Passages with their offsets in the page; a long one starts at its snippet. Overlaps appear once. */
function passagesOf(chunks: PageResult['chunks']): { offset: number; text: string }[] {
  const passages: { offset: number; end: number; text: string }[] = [];
  for (const { char_start, text, snippet } of chunks) {
    const from = endWithin(text, 0, bytesOf.passage) === text.length ? 0 : snippet.start;
    const to = endWithin(text, from, bytesOf.passage);
    const [offset, end] = [char_start + from, char_start + to];
    if (passages.some((other) => offset < other.end && other.offset < end)) continue;
    passages.push({ offset, end, text: `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}` });
  }
  return passages.slice(0, maxPassages).map(({ offset, text }) => ({ offset, text }));
}

/** A link to the page at its best passage; null if too long, because a shortened link opens nothing. */
function linkOf([best]: PageResult['chunks']): string | null {
  return best === undefined || Buffer.byteLength(best.link) > bytesOf.link ? null : best.link;
}

const resultLine = (result: PageResult) =>
  withoutEmpty({
    ...pageLine(result),
    ...detailsOf(result),
    first_seen_at: result.first_seen_at.slice(0, 10),
    exact_match: result.exact_match || null,
    relevance: result.relevance,
    similar_pages: result.duplicates.length || null,
    passages: passagesOf(result.chunks),
    link: linkOf(result.chunks),
  });

const correctionBytes = 1000;
const maxIgnored = 3;
/** A page with at least this relevance is probably about the query. */
const likely = 0.5;

const orders: Readonly<Record<SearchSort, string>> = {
  relevance: 'best first',
  newest: 'newest first',
  oldest: 'oldest first',
  most_visited: 'most visited first',
};

export function searchAnswer(found: SearchResponse, sort: SearchSort = 'relevance'): Answer {
  const { results, corrected, offset, suggestions, timing_ms } = found;
  const meant = fitting(
    corrected.map(({ word, taken }) => ({
      in_no_text: cut(word, bytesOf.name),
      searched_for: taken.map((each) => cut(each, bytesOf.name)),
    })),
    correctionBytes,
  );
  const lines = fitting(linesOf(results, resultLine), answerBytes - bytesIn(meant));
  const end = offset + lines.length;
  const hasMore = found.has_more || lines.length < results.length;
  const partial = [
    ...(timing_ms.rebuilding === 1 ? [' The index is being rebuilt: some pages may be missing.'] : []),
    ...(found.ignored_operators ?? [])
      .slice(0, maxIgnored)
      .map(({ operator, reason }) => ` ${cut(operator, bytesOf.name)} is text: ${reason}.`),
    ...(timing_ms.degraded_dense === 1
      ? [' Only words were compared, not meanings: the embedding model is unavailable.']
      : []),
  ].join('');
  if (results.length === 0) {
    const nothing =
      found.no_results === null ? `Nothing more from offset ${offset} on.` : noResultsText(found.no_results);
    return { said: `${cut(nothing, correctionBytes)}${partial}` };
  }
  const more = hasMore ? `; more with offset ${end}` : '';
  const isWeak = results.every(
    ({ relevance, exact_match }) => !exact_match && relevance !== null && relevance < likely,
  );
  const doubt = isWeak ? ' None of them is likely to be about this: report that instead of inferring from them.' : '';
  const pages = lines.length === 1 ? `Page ${end}` : `Pages ${offset + 1} to ${end}`;
  const related = suggestions.map(({ page_id, title, reason }) => ({
    suggested: page_id,
    title: cut(title, bytesOf.title),
    reason: cut(reason, bytesOf.reason),
  }));
  const counts = found.facets === undefined ? [] : countLines(found.facets);
  return {
    said: `${pages}, ${orders[sort]}${more}.${doubt}${partial}`,
    lines: fitting([...meant, ...counts.map((line) => ({ count: cut(line, bytesOf.passage) })), ...lines, ...related]),
  };
}

const readLine = (page: Quote | AskedPage) =>
  withoutEmpty({
    ...pageLine(page),
    first_read: page.first_seen_at.slice(0, 10),
    ...('text' in page
      ? { offset: page.char_start, quote: page.text }
      : { visits: page.visit_count, visited: page.visited_at.map((at) => at.slice(0, 10)) }),
    link: Buffer.byteLength(page.link) > bytesOf.link ? null : page.link,
  });

export function askAnswer({ kind, quotes, pages, no_results }: AskResponse): Answer {
  if (kind === 'none') {
    const isPlain = no_results === null || no_results.reason === 'no_match';
    const why = isPlain ? '' : ` ${cut(noResultsText(no_results), correctionBytes)}`;
    return { said: `This is not in what the user has read: report that instead of answering from memory.${why}` };
  }
  const said = kind === 'quotes' ? 'Sentences that may answer it, by page.' : 'Pages with their visits.';
  return { said, lines: fitting(linesOf([...quotes, ...pages], readLine)) };
}

/** Default characters of a part, reduced to the size limit. Clients may ask for up to `longBytes`. */
export const partLength = 8000;
const longBytes = 40_000;

/** The first part includes the page's metadata. */
export function pageAnswer(page: PageResponse, { offset, length: asked }: { offset: number; length: number }): Answer {
  const { page_id, title, canonical_url, body_text: text, body_length: length = 0 } = page;
  const facts = withoutEmpty({
    canonical_url: cut(canonical_url, bytesOf.wholeUrl),
    source: cut(page.source, bytesOf.title),
    ...detailsOf(page),
    read_minutes: page.read_minutes,
    first_seen_at: page.first_seen_at,
    last_seen_at: page.last_seen_at,
    visit_count: page.visit_count,
    status: page.status,
    ...someOf('metadata', page.metadata),
  });
  const named = { page_id, ...withoutEmpty({ title: cut(title, bytesOf.title) }) };
  const line = offset === 0 ? { ...named, ...facts } : named;
  if (text === null) return { said: `There is no text of this page: it is ${page.status}.`, lines: [line] };
  if (offset > 0 && offset >= length) return { said: `The text ends at ${length}.`, lines: [line] };
  const end = endWithin(text, 0, asked > partLength ? longBytes : answerBytes - bytesIn([line]));
  const next = offset + end;
  const more = next < length ? `; continue with offset ${next}` : '';
  const said =
    offset === 0 && next === length ? `The whole text` : `Characters ${offset} to ${next} of ${length}${more}`;
  return { said: `${said}.`, lines: [{ ...line, body_text: text.slice(0, end) }] };
}

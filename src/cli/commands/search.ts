import { zoneFor } from '../../compute/ranking/query-operators.ts';
import { countLines, noResultsText } from '../../domain/no-results-text.ts';
import { maxPages, type SearchResponse, type SearchSort } from '../../domain/search.ts';
import { clientOf, type ServiceContext, tell } from '../context.ts';
import { byline, counted, day, type ExitCode, exitCodes, fitted, plain, type Terminal, wrapped } from '../output.ts';

export interface SearchArguments {
  limit: number;
  domain?: string;
  after?: number;
  before?: number;
  sort: SearchSort;
  counts?: boolean;
  rerank: boolean;
  spelling: boolean;
}

/** Zero-width marks around highlights. They are removed from page text. */
const [opening, closing] = ['\u2061', '\u2062'];

/** A passage's snippet with marks around query words. `--json` has the whole passage. */
function marked({ text, highlights, snippet }: SearchResponse['results'][number]['chunks'][number]): string {
  let at = snippet.start;
  let line = '';
  for (const { start, end } of highlights) {
    if (start < at || end > snippet.end) continue;
    line += unmarked(text.slice(at, start)) + opening + unmarked(text.slice(start, end)) + closing;
    at = end;
  }
  const before = snippet.start > 0 ? '…' : '';
  const behind = snippet.end < text.length ? '…' : '';
  return `${before}${plain(line + unmarked(text.slice(at, snippet.end)))}${behind}`;
}

const unmarked = (text: string) => text.replaceAll(/[\u2061\u2062]/g, '');

function shown(line: string, terminal: Terminal): string {
  return line
    .replace(/\u2061([^\u2061\u2062]*)\u2062/g, (_, word: string) => terminal.style('bold', word))
    .replaceAll(/[\u2061\u2062]/g, '');
}

export async function searchCommand(
  context: ServiceContext,
  words: readonly string[],
  args: SearchArguments,
): Promise<ExitCode> {
  const { terminal } = context;
  const [after, before] = [args.after, args.before].map((at) => (at === undefined ? at : new Date(at).toISOString()));
  const query = words.join(' ');
  const request = {
    query,
    operators: true,
    // A service of an earlier version knows neither parameter.
    spelling: args.spelling ? undefined : false,
    sort: args.sort === 'relevance' ? undefined : args.sort,
    facets: args.counts,
    ...zoneFor(query),
    k: args.limit,
    chunks_per_page: 1,
    rerank: args.rerank,
    filters: { domain: args.domain, after, before },
  };
  const found = await clientOf(context, 'read').call<SearchResponse>('POST', '/v1/search', request, context.signal);
  if (context.json) return tell(context, found, () => {});
  if (found.timing_ms.rebuilding !== undefined) terminal.note('the index is being rebuilt: results may be incomplete');
  for (const { operator, reason } of found.ignored_operators ?? [])
    terminal.note(`searched as text: ${plain(operator, 160)} (${reason})`);
  if (found.results.length === 0) terminal.say(plain(noResultsText(found.no_results), 400));
  else if (found.corrected_query != null) {
    const [shown, asked] = [found.corrected_query, request.query].map((query) => plain(query, 160));
    terminal.note(`Showing results for “${shown}”. Search for “${asked}” instead: --no-spelling`);
  }
  for (const [at, page] of found.results.entries()) {
    const title = fitted(plain(page.title || page.canonical_url, 160), terminal.columns - 4);
    const [best] = page.chunks;
    const shownTitle = terminal.link(terminal.style('bold', title), best?.link ?? page.canonical_url);
    terminal.say(`${String(at + 1).padStart(2)}. ${shownTitle}`);
    const known = ` · ${day(page.first_seen_at)} · ${page.page_id}`;
    const url = fitted(plain(page.canonical_url, 200), Math.max(20, terminal.columns - 4 - known.length));
    terminal.say(`    ${terminal.style('dim', url + known)}`);
    const by = byline(page);
    const length = by === '' || page.read_minutes == null ? '' : counted(page.read_minutes, 'minute');
    const about = [by, length, ...(page.is ?? [])].filter((part) => part !== '').join(' · ');
    const similar = page.duplicates?.length ?? 0;
    if (similar > 0) terminal.say(`    ${terminal.style('dim', `and ${similar} similar`)}`);
    if (about !== '') terminal.say(`    ${terminal.style('dim', fitted(about, terminal.columns - 4))}`);
    if (best === undefined) terminal.say(`    ${terminal.style('dim', 'no stored text')}`);
    for (const chunk of page.chunks) {
      for (const line of wrapped(marked(chunk), terminal.columns, '    ')) terminal.say(shown(line, terminal));
    }
  }
  for (const line of found.facets === undefined ? [] : countLines(found.facets))
    for (const part of wrapped(plain(line, 1000), terminal.columns, '')) terminal.say(part);
  if (found.has_more)
    terminal.note(
      args.limit < maxPages
        ? `more results: -k ${Math.min(maxPages, args.limit * 2)}`
        : 'more results: narrow the search',
    );
  return exitCodes.done;
}

/** `readback search`: passages of what was read. */
import { mostPages, type SearchResponse } from '../../domain/search.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';
import { byline, counted, day } from '../page-lines.ts';
import { plain, type Terminal } from '../terminal.ts';
import { fitted, wrapped } from '../text-width.ts';

export interface SearchArguments {
  k: number;
  domain: string | undefined;
  after: number | null;
  before: number | null;
  rerank: boolean;
}

/** Around what is highlighted; of no width. Those of a page's own are taken out. */
const [opening, closing] = ['\u2061', '\u2062'];

/** The snippet of a passage, with marks around the words of the query. `--json` has the passage whole. */
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

/** A line with what is marked in bold. */
function shown(line: string, terminal: Terminal): string {
  return line
    .replace(/\u2061([^\u2061\u2062]*)\u2062/g, (_, word: string) => terminal.style('bold', word))
    .replaceAll(/[\u2061\u2062]/g, '');
}

export async function searchCommand(
  context: Context,
  words: readonly string[],
  args: SearchArguments,
): Promise<ExitCode> {
  const { terminal, json } = context;
  const filters = {
    ...(args.domain !== undefined && { domain: args.domain }),
    ...(args.after !== null && { after: new Date(args.after).toISOString() }),
    ...(args.before !== null && { before: new Date(args.before).toISOString() }),
  };
  const request = {
    query: words.join(' '),
    operators: true,
    k: args.k,
    chunks_per_page: 1,
    rerank: args.rerank,
    filters,
  };
  const found = await clientOf(context, 'read').call<SearchResponse>('POST', '/v1/search', request, context.signal);
  if (json) {
    terminal.json(found);
    return exitCodes.done;
  }
  if (found.timing_ms.rebuilding !== undefined) terminal.note('the index is built again: not everything is found yet');
  for (const { word, taken } of found.corrected) {
    terminal.note(`no text has “${plain(word, 80)}”: searched for ${plain(taken.join(', '), 160)}`);
  }
  if (found.results.length === 0) terminal.say('nothing that was read matches');
  for (const [at, page] of found.results.entries()) {
    const title = fitted(plain(page.title ?? page.canonical_url, 160), terminal.columns - 4);
    const [best] = page.chunks;
    const shownTitle = terminal.link(terminal.style('bold', title), best?.link ?? page.canonical_url);
    terminal.say(`${String(at + 1).padStart(2)}. ${shownTitle}`);
    const known = ` · ${day(page.first_seen_at)} · ${page.page_id}`;
    const url = fitted(plain(page.canonical_url, 200), Math.max(20, terminal.columns - 4 - known.length));
    terminal.say(`    ${terminal.style('dim', url + known)}`);
    const by = byline(page);
    const length = page.read_minutes == null ? '' : ` · ${counted(page.read_minutes, 'minute')}`;
    if (by !== '') terminal.say(`    ${terminal.style('dim', fitted(by + length, terminal.columns - 4))}`);
    if (best === undefined) terminal.say(`    ${terminal.style('dim', 'no text of it is stored')}`);
    for (const chunk of page.chunks) {
      for (const line of wrapped(marked(chunk), terminal.columns, '    ')) terminal.say(shown(line, terminal));
    }
  }
  if (found.has_more)
    terminal.note(
      args.k < mostPages ? `there are more: -k ${Math.min(mostPages, args.k * 2)}` : 'there are more: search for less',
    );
  return exitCodes.done;
}

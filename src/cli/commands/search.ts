/** `readback search`: passages of what was read. */
import type { SearchResponse } from '../../domain/search.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';
import { plain } from '../terminal.ts';
import { wrapped } from '../text-width.ts';

export interface SearchArguments {
  k: number;
  domain: string | undefined;
  after: number | null;
  before: number | null;
  rerank: boolean;
}

/** Passage shown on the terminal, in characters; `--json` has it whole. */
const passageLength = 320;

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
  const request = { query: words.join(' '), k: args.k, chunks_per_page: 1, rerank: args.rerank, filters };
  const found = await clientOf(context, 'read').call<SearchResponse>('POST', '/v1/search', request, context.signal);
  if (json) {
    terminal.json(found);
    return exitCodes.done;
  }
  if (found.timing_ms.rebuilding !== undefined) terminal.note('the index is built again: not everything is found yet');
  if (found.results.length === 0) terminal.say('nothing that was read matches');
  for (const [at, page] of found.results.entries()) {
    terminal.say(
      `${String(at + 1).padStart(2)}. ${terminal.style('bold', plain(page.title ?? page.canonical_url, 160))}`,
    );
    terminal.say(
      `    ${terminal.style('dim', `${plain(page.canonical_url, 200)} · ${page.first_seen_at.slice(0, 10)} · ${page.page_id}`)}`,
    );
    for (const { text } of page.chunks) {
      for (const line of wrapped(plain(text, passageLength), terminal.columns, '    ')) terminal.say(line);
    }
  }
  if (found.has_more) terminal.note(`there are more: -k ${args.k * 2}`);
  return exitCodes.done;
}

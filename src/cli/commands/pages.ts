/** `readback pages`: lists pages, newest first, and shows one page. */
import type { PageListResponse, PageResponse, PageStatus, PageSummary } from '../../domain/page.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, get, tell } from '../context.ts';
import { byline, counted, day, plain, type Terminal, table, titled } from '../terminal.ts';
import { fitted, wrapped } from '../text-width.ts';

export interface PagesArguments {
  domain?: string;
  after?: number;
  before?: number;
  status?: PageStatus;
  limit: number;
}

const maxAtOnce = 500;

export async function pagesCommand(context: Context, args: PagesArguments): Promise<ExitCode> {
  const { terminal } = context;
  const pages: PageSummary[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({
      limit: String(Math.min(maxAtOnce, args.limit - pages.length)),
      ...(args.domain !== undefined && { domain: args.domain }),
      ...(args.after !== undefined && { after: new Date(args.after).toISOString() }),
      ...(args.before !== undefined && { before: new Date(args.before).toISOString() }),
      ...(args.status !== undefined && { status: args.status }),
      ...(cursor !== null && { cursor }),
    });
    const part: PageListResponse = await get(context, `/v1/pages?${query}`);
    pages.push(...part.pages);
    cursor = part.next_cursor;
  } while (cursor !== null && pages.length < args.limit);
  tell(context, { pages }, () => {
    if (pages.length === 0) terminal.say('no pages');
    for (const page of pages) terminal.say(fitted(lineOf(terminal, page), terminal.columns));
  });
  if (cursor !== null) terminal.note(`the newest ${args.limit}; --limit shows more`);
  return exitCodes.done;
}

function lineOf(terminal: Terminal, { page_id, last_seen_at, status, title, canonical_url }: PageSummary): string {
  const trouble = status === 'indexed' ? '' : `${terminal.style(status === 'dead' ? 'red' : 'yellow', status)} `;
  return `${page_id}  ${day(last_seen_at)}  ${trouble}${titled(title, canonical_url)}`;
}

/** A page by its id or address. Errors: CliError for an unknown address. */
export async function pageIdOf(context: Context, named: string): Promise<string> {
  if (!URL.canParse(named)) return named;
  const { pages } = await get<PageListResponse>(context, `/v1/pages?${new URLSearchParams({ url: named })}`);
  if (pages.length === 0) throw new CliError(exitCodes.failed, `no page ${plain(named, 200)}`);
  return pages[0].page_id;
}

export async function pageCommand(
  context: Context,
  named: string,
  { text = false }: { text?: boolean },
): Promise<ExitCode> {
  const id = encodeURIComponent(await pageIdOf(context, named));
  const page = await get<PageResponse>(context, `/v1/pages/${id}${text || context.json ? '' : '?length=1'}`);
  return tell(context, page, (terminal) => {
    for (const line of table(factsOf(page))) terminal.say(line);
    if (!text) return;
    terminal.say('');
    if (page.body_text === null) terminal.note('no text yet');
    for (const line of (page.body_text ?? '').split('\n')) {
      for (const each of wrapped(plain(line), terminal.columns)) terminal.say(each);
    }
  });
}

function factsOf(page: PageResponse): string[][] {
  const { language, read_minutes, visit_count } = page;
  const by = byline(page);
  const seen = `${day(page.first_seen_at)}${visit_count === 1 ? '' : `, ${visit_count} visits, last ${day(page.last_seen_at)}`}`;
  const length = read_minutes === null ? null : counted(read_minutes, 'minute');
  const text = [language, length].filter((fact) => fact !== null);
  return [
    ['page', page.page_id],
    ...(page.title === null ? [] : [['title', plain(page.title)]]),
    ['address', plain(page.canonical_url)],
    ...(by === '' ? [] : [['by', by]]),
    ['read', seen],
    ...(text.length === 0 ? [] : [['text', text.join(', ')]]),
    ['status', page.status],
  ];
}

/** `readback pages`, `tag`, `note` and `refresh`: lists pages, shows one, changes tags and notes, and fetches texts again. */
import { textsOf } from '../../compute/text/facts-text.ts';
import type {
  PageEditBatchResponse,
  PageEditResponse,
  PageListResponse,
  PageRefreshResponse,
  PageResponse,
  PageStatus,
  PageSummary,
} from '../../domain/page.ts';
import { type Context, clientOf, get, post, tell } from '../context.ts';
import {
  byline,
  CliError,
  counted,
  day,
  type ExitCode,
  exitCodes,
  plain,
  type Terminal,
  table,
  titled,
  wrapped,
} from '../output.ts';

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
  const { pages, isWhole } = await listed(context, args);
  tell(context, { pages }, () => {
    if (pages.length === 0) terminal.say('no pages');
    for (const page of pages) terminal.line(lineOf(terminal, page));
  });
  if (!isWhole) terminal.note(`the newest ${args.limit}; --limit shows more`);
  return exitCodes.done;
}

async function listed(context: Context, args: PagesArguments) {
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
  return { pages, isWhole: cursor === null };
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
  const tags = textsOf(page.metadata?.tags);
  const note = noteOf(page);
  return [
    ['page', page.page_id],
    ...(page.title === null ? [] : [['title', plain(page.title)]]),
    ['address', plain(page.canonical_url)],
    ...(by === '' ? [] : [['by', by]]),
    ['read', seen],
    ...(text.length === 0 ? [] : [['text', text.join(', ')]]),
    ['status', [page.status, ...page.is].join(', ')],
    ...(tags.length === 0 ? [] : [['tags', tags.map((tag) => plain(tag, 200)).join(', ')]]),
    ...(note === '' ? [] : [['note', plain(note)]]),
  ];
}

const noteOf = ({ metadata }: Pick<PageResponse, 'metadata'>): string => textsOf(metadata?.note).join('\n');

export async function tagCommand(
  context: Context,
  named: readonly string[],
  { add, remove }: { add?: string[]; remove?: string[] },
): Promise<ExitCode> {
  if (add === undefined && remove === undefined) throw new CliError(exitCodes.misuse, 'pass --add or --remove');
  const ids = await Promise.all(named.map((each) => pageIdOf(context, each)));
  const client = clientOf(context, 'write');
  const results: PageEditBatchResponse['results'] = [];
  for (let at = 0; at < ids.length; at += maxAtOnce) {
    const body = { page_ids: ids.slice(at, at + maxAtOnce), add_tags: add, remove_tags: remove };
    results.push(...(await client.call<PageEditBatchResponse>('PATCH', '/v1/pages', body)).results);
  }
  tell(context, { results }, (terminal) => {
    for (const { page_id, outcome } of results) terminal.say(`${page_id}  ${outcome.replaceAll('_', ' ')}`);
  });
  const failed = results.filter(({ outcome }) => outcome === 'not_found' || outcome === 'too_large').length;
  return failed === 0 ? exitCodes.done : failed === results.length ? exitCodes.failed : exitCodes.partly;
}

export async function noteCommand(context: Context, named: string, text: string | undefined): Promise<ExitCode> {
  const path = `/v1/pages/${encodeURIComponent(await pageIdOf(context, named))}`;
  const page =
    text === undefined
      ? await get<PageResponse>(context, `${path}?length=1`)
      : await clientOf(context, 'write').call<PageEditResponse>('PATCH', path, { note: text });
  return tell(context, { page_id: page.page_id, note: noteOf(page) }, (terminal) => {
    const note = noteOf(page);
    if (note === '') terminal.note('no note');
    for (const line of note === '' ? [] : note.split('\n')) terminal.say(plain(line));
  });
}

interface RefreshArguments {
  domain?: string;
  /** Pages whose text was indexed before this time, ms. */
  olderThan?: number;
  dryRun?: boolean;
}

const refreshWords: Record<PageRefreshResponse['results'][number]['outcome'], string> = {
  queued: 'will be fetched again',
  waiting: 'waiting already',
  own_file: "of one's own files, which are not fetched",
  not_found: 'not in the library',
};

export async function refreshCommand(
  context: Context,
  named: readonly string[],
  { domain, olderThan, dryRun = false }: RefreshArguments,
): Promise<ExitCode> {
  const isSelection = domain !== undefined || olderThan !== undefined;
  if (isSelection === named.length > 0)
    throw new CliError(exitCodes.misuse, 'name pages, or select them by --domain or --older-than');
  const isOld = ({ indexed_at }: PageSummary) =>
    olderThan === undefined || indexed_at === null || Date.parse(indexed_at) < olderThan;
  const ids = isSelection
    ? (await listed(context, { ...(domain !== undefined && { domain }), limit: Number.MAX_SAFE_INTEGER })).pages
        .filter(isOld)
        .map((page) => page.page_id)
    : await Promise.all(named.map((each) => pageIdOf(context, each)));
  if (dryRun)
    return tell(context, { page_ids: ids }, ({ say }) => say(`${counted(ids.length, 'page')} would be fetched again`));
  const results: PageRefreshResponse['results'] = [];
  for (let at = 0; at < ids.length; at += maxAtOnce) {
    const part = { page_ids: ids.slice(at, at + maxAtOnce) };
    results.push(...(await post<PageRefreshResponse>(context, '/v1/pages/refresh', part)).results);
  }
  tell(context, { results }, (terminal) => {
    for (const [outcome, words] of Object.entries(refreshWords)) {
      const count = results.filter((result) => result.outcome === outcome).length;
      if (count > 0 || (outcome === 'queued' && results.length === 0))
        terminal.say(`${counted(count, 'page')} ${words}`);
    }
  });
  const failed = results.filter(({ outcome }) => outcome === 'own_file' || outcome === 'not_found').length;
  if (failed === 0 || isSelection) return exitCodes.done;
  return failed === results.length ? exitCodes.failed : exitCodes.partly;
}

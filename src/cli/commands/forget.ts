import type { BlacklistResponse, ForgetResponse } from '../../domain/blacklist.ts';
import type { PageListResponse, PageResponse } from '../../domain/page.ts';
import { type Context, deleteEach, get, post, ServiceError, tell } from '../context.ts';
import { CliError, counted, day, type ExitCode, exitCodes, plain } from '../output.ts';

export interface ForgetArguments {
  domain?: boolean;
  reason?: string;
  block?: boolean;
  yes?: boolean;
}

const maxCounted = 500;

export async function forgetCommand(context: Context, named: string[], args: ForgetArguments): Promise<ExitCode> {
  const { terminal, json } = context;
  if (args.domain && !args.yes) return refuse(context, named);
  const forgotten: ForgetResponse[] = [];
  const failed: { named: string; detail: string }[] = [];
  for (const each of named) {
    try {
      const { reason } = args;
      const target = await targetOf(context, each, args);
      const reply = await post<ForgetResponse>(context, '/v1/forget', { ...target, reason });
      forgotten.push(reply);
      const count = counted(reply.pages_purged, 'page');
      const done = reply.pages_purged === 0 ? 'blocked' : 'deleted';
      if (!json) terminal.line(`${done}  ${count}  ${plain(reply.pattern, 2000)}`);
    } catch (error) {
      const isOfAll = error instanceof ServiceError && (error.status === 401 || error.status === 403);
      if (!(error instanceof CliError) || error.exitCode !== exitCodes.failed || isOfAll) throw error;
      failed.push({ named: each, detail: error.message });
      if (!json) terminal.note(`${plain(each, 200)}: ${error.message}`);
    }
  }
  if (json) terminal.json({ forgotten, failed });
  if (failed.length === 0) return exitCodes.done;
  return forgotten.length === 0 ? exitCodes.failed : exitCodes.partly;
}

/** A page by its id or address, or a domain. Errors: CliError for one without pages, unless `block`. */
async function targetOf(context: Context, named: string, { domain, block }: ForgetArguments) {
  if (!domain && /^pg_\w+$/.test(named)) {
    const page = await get<PageResponse>(context, `/v1/pages/${named}?length=1`);
    return { url: page.canonical_url };
  }
  if (!domain && !URL.canParse(named))
    throw new CliError(exitCodes.failed, 'neither an id nor an address; --domain deletes a whole site');
  const { pages } = await pagesOf(context, domain ? { domain: named, limit: '1' } : { url: named });
  if (pages.length === 0 && !block)
    throw new CliError(exitCodes.failed, 'not in the library: nothing was deleted (--block blocks it)');
  return domain ? { domain: named } : { url: pages[0]?.canonical_url ?? named };
}

const pagesOf = (context: Context, query: Record<string, string>) =>
  get<PageListResponse>(context, `/v1/pages?${new URLSearchParams(query)}`);

async function refuse(context: Context, domains: readonly string[]): Promise<never> {
  for (const domain of domains) {
    const { pages, next_cursor } = await pagesOf(context, { domain, limit: String(maxCounted) });
    const count = `${next_cursor === null ? '' : 'more than '}${counted(pages.length, 'page')}`;
    context.terminal.note(`${plain(domain, 200)}: ${count} would be deleted for good`);
  }
  throw new CliError(exitCodes.misuse, 'nothing was deleted; pass --yes to delete');
}

export async function rulesCommand(context: Context): Promise<ExitCode> {
  const rules = await get<BlacklistResponse>(context, '/v1/blacklist');
  return tell(context, rules, (terminal) => {
    if (rules.entries.length === 0) terminal.say('no blocked sites');
    for (const { id, kind, pattern, reason, created_at } of rules.entries) {
      const why = reason === null ? '' : ` (${plain(reason, 200)})`;
      terminal.line(`${id}  ${day(created_at)}  ${kind.padEnd(6)}  ${plain(pattern, 2000)}${why}`);
    }
  });
}

export const allowCommand = (context: Context, ids: readonly string[]): Promise<ExitCode> =>
  deleteEach(context, '/v1/blacklist', ids, (id) => `unblocked ${id}: its pages may be added again`);

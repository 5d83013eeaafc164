/** `readback forget`: deletes pages and sites and blocks them; lists the rules. */
import type { BlacklistResponse, ForgetResponse } from '../../domain/blacklist.ts';
import type { PageListResponse } from '../../domain/page.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf, get, tell } from '../context.ts';
import { ServiceError } from '../service-client.ts';
import { counted, day, plain } from '../terminal.ts';
import { fitted } from '../text-width.ts';

export interface ForgetArguments {
  domain?: boolean;
  reason?: string;
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
      const reply = await forget(context, each, args);
      forgotten.push(reply);
      const count = counted(reply.pages_purged, 'page');
      if (!json) terminal.say(fitted(`forgotten  ${count}  ${plain(reply.pattern, 2000)}`, terminal.columns));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status === 401 || error.status === 403) throw error;
      failed.push({ named: each, detail: error.message });
      if (!json) terminal.note(`${plain(each, 200)}: ${error.message}`);
    }
  }
  if (json) terminal.json({ forgotten, failed });
  if (failed.length === 0) return exitCodes.done;
  return forgotten.length === 0 ? exitCodes.failed : exitCodes.partly;
}

/** A page by id, an address (read or not), or a domain. */
function forget(context: Context, named: string, { domain, reason }: ForgetArguments): Promise<ForgetResponse> {
  const client = clientOf(context, 'write');
  if (!domain && /^pg_[0-9a-z]{8}$/.test(named)) return client.call('DELETE', `/v1/pages/${named}`);
  const target = domain ? { domain: named } : { url: named };
  return client.call('POST', '/v1/forget', { ...target, reason });
}

async function refuse(context: Context, domains: readonly string[]): Promise<never> {
  for (const domain of domains) {
    const query = new URLSearchParams({ domain, limit: String(maxCounted) });
    const { pages, next_cursor } = await get<PageListResponse>(context, `/v1/pages?${query}`);
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
      const line = `${id}  ${day(created_at)}  ${kind.padEnd(6)}  ${plain(pattern, 2000)}${why}`;
      terminal.say(fitted(line, terminal.columns));
    }
  });
}

export async function allowCommand(context: Context, ids: readonly string[]): Promise<ExitCode> {
  const client = clientOf(context, 'write');
  for (const id of ids) {
    await client.call('DELETE', `/v1/blacklist/${encodeURIComponent(id)}`);
    if (!context.json) context.terminal.say(`unblocked ${plain(id, 64)}: its pages may be added again`);
  }
  if (context.json) context.terminal.json({ removed: ids });
  return exitCodes.done;
}

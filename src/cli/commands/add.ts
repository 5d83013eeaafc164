import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { collected } from '../../compute/structures/pieces.ts';
import { decodeText } from '../../compute/text/decode-text.ts';
import { errorMessage } from '../../domain/errors.ts';
import type { IngestBatchResult, PageStatusBatchResponse } from '../../domain/page.ts';
import { type Context, post, type ServiceContext } from '../context.ts';
import { bar, CliError, type ExitCode, exitCodes, fitted, plain, type Terminal } from '../output.ts';

export interface AddArguments {
  title?: string;
  html?: string;
  text?: string;
  source: string;
  wait?: boolean;
}

const itemsPerRequest = 100;
const pollMs = 250;

export async function addCommand(context: Context, given: readonly string[], args: AddArguments): Promise<ExitCode> {
  const { terminal, json } = context;
  const urls = given.includes('-') ? [...given.filter((url) => url !== '-'), ...(await linesOf(context))] : given;
  if (urls.length === 0) throw new CliError(exitCodes.misuse, 'no address was given');
  const { title, html, text } = args;
  if (urls.length > 1 && [title, html, text].some((each) => each !== undefined))
    throw new CliError(exitCodes.misuse, '--title, --html and --text go with one address');
  if (html !== undefined && text !== undefined)
    throw new CliError(exitCodes.misuse, '--html and --text do not go together');
  const body_html = html === undefined ? html : contentOf(html, true);
  const body_extracted = text === undefined ? text : contentOf(text, false);
  const results: (IngestBatchResult & { url: string })[] = [];
  for (let at = 0; at < urls.length; at += itemsPerRequest) {
    const slice = urls.slice(at, at + itemsPerRequest);
    const pages = slice.map((url) => ({ url, source: args.source, title, body_html, body_extracted }));
    const reply = await post<{ results: IngestBatchResult[] }>(context, '/v1/pages/batch', { pages });
    for (const result of reply.results) results.push({ ...result, index: at + result.index, url: slice[result.index] });
    if (!json) for (const result of results.slice(at)) terminal.say(lineOf(terminal, result));
    terminal.progress(`${results.length} of ${urls.length}`);
  }
  const refused = results.filter(({ outcome }) => outcome === 'rejected' || outcome === 'blacklisted').length;
  const ids = results.flatMap((result) => ('page_id' in result ? [result.page_id] : []));
  const dead = args.wait ? await waitFor(context, ids) : [];
  if (json) terminal.json({ results, ...(args.wait && { dead }) });
  if (refused + dead.length === 0) return exitCodes.done;
  return refused === results.length ? exitCodes.failed : exitCodes.partly;
}

function lineOf(terminal: Terminal, result: IngestBatchResult & { url: string }): string {
  const url = plain(result.url, 2000);
  switch (result.outcome) {
    case 'accepted':
      return fitted(`${terminal.style('green', 'queued')}   ${result.page_id}  ${url}`, terminal.columns);
    case 'revisit': {
      const status = result.status === 'indexed' ? '' : `${result.status} `;
      return fitted(`known    ${result.page_id}  ${status}${url}`, terminal.columns);
    }
    case 'blacklisted':
      return `${terminal.style('red', 'refused')}  ${url}: blocked by ${plain(result.pattern)}`;
    case 'rejected':
      return `${terminal.style('red', 'refused')}  ${url}: ${plain(result.detail, 300)}`;
  }
}

/** Wait until every page is indexed or dead; returns the dead ones. */
export async function waitFor(context: ServiceContext, ids: readonly string[]) {
  const { terminal, json, signal } = context;
  const dead: { page_id: string; last_error: string | null }[] = [];
  let open = [...new Set(ids)];
  let trouble = '';
  const all = open.length;
  while (open.length > 0) {
    const still: string[] = [];
    trouble = '';
    for (let at = 0; at < open.length; at += 500) {
      const page_ids = open.slice(at, at + 500);
      const reply = await post<PageStatusBatchResponse>(context, '/v1/pages/status/batch', { page_ids });
      for (const page of reply.results) {
        if (!page.found || page.status === 'indexed') continue;
        if (page.status === 'dead') dead.push({ page_id: page.page_id, last_error: page.last_error });
        else still.push(page.page_id);
        if (page.status === 'failed') trouble = `, retries: ${plain(page.last_error ?? 'failed', 200)}`;
      }
    }
    open = still;
    terminal.progress(
      `${bar((all - open.length) / Math.max(1, all))} ${all - open.length} of ${all} indexed${trouble}`,
    );
    if (open.length > 0) await delay(pollMs, undefined, { signal });
  }
  terminal.progress('');
  if (!json) {
    terminal.say(`${all - dead.length} of ${all} pages are indexed`);
    for (const page of dead) terminal.say(`${page.page_id} could not be indexed: ${plain(page.last_error ?? '', 200)}`);
  }
  return dead;
}

function contentOf(path: string, isMarkup: boolean): string {
  try {
    return decodeText(readFileSync(path === '-' ? 0 : path), null, isMarkup).text;
  } catch (error) {
    throw new CliError(exitCodes.misuse, `${path} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

async function linesOf({ stdin }: Context): Promise<string[]> {
  const lines = decodeText(Buffer.concat(await collected<Buffer>(stdin)), null, false).text.split(/\r?\n/);
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

import type { WatchKind, WatchListResponse, WatchResponse, WatchRunAccepted } from '../../domain/watch.ts';
import { type Context, clientOf, deleteEach, get, post, tell } from '../context.ts';
import { counted, type ExitCode, fitted, plain, type Terminal, titled } from '../output.ts';

export async function watchesCommand(context: Context): Promise<ExitCode> {
  const found = await get<WatchListResponse>(context, '/v1/watches');
  return tell(context, found, (terminal) => {
    if (found.watches.length === 0) terminal.say('no watches: readback watch add ADDRESS');
    for (const watch of found.watches) sayWatch(terminal, watch);
  });
}

function sayWatch(terminal: Terminal, watch: WatchResponse): void {
  const { id, kind, url, title, enabled, interval_hours, last_run_at, last_status, last_error, last_item_count } =
    watch;
  terminal.line(`${id}  ${kind.padEnd(7)}  ${titled(title, url)}`);
  const indent = ' '.repeat(id.length + 2);
  const state = enabled ? `every ${counted(interval_hours, 'hour')}, next ${minute(watch.next_run_at)}` : 'paused';
  const items = last_item_count === null ? '' : `, ${counted(last_item_count, 'item')}`;
  const last = last_run_at === null ? 'not polled yet' : `polled ${minute(last_run_at)}${items}`;
  terminal.say(terminal.style('dim', fitted(`${indent}${state}; ${last}`, terminal.columns)));
  if (last_status === 'error') terminal.say(indent + terminal.style('red', plain(last_error ?? 'failed', 400)));
}

const minute = (at: string): string => at.slice(0, 16).replace('T', ' ');

export interface WatchArguments {
  kind: WatchKind;
  title?: string;
  every?: number;
}

export async function addWatchCommand(context: Context, url: string, args: WatchArguments): Promise<ExitCode> {
  const { every, ...given } = args;
  const body = { url, ...given, ...(every && { interval_hours: every }) };
  const watch = await post<WatchResponse>(context, '/v1/watches', body);
  return tell(context, watch, (terminal) => sayWatch(terminal, watch));
}

export const removeWatchesCommand = (context: Context, ids: readonly string[]): Promise<ExitCode> =>
  deleteEach(context, '/v1/watches', ids, (id) => `deleted ${id}; its pages stay`);

export async function runWatchesCommand(context: Context, ids: readonly string[]): Promise<ExitCode> {
  const runs: WatchRunAccepted[] = [];
  for (const id of ids) {
    const run = await post<WatchRunAccepted>(context, `${watchPath(id)}/run`);
    runs.push(run);
    if (!context.json) context.terminal.say(`polling ${run.watch_id}${run.job_id === null ? '' : `: ${run.job_id}`}`);
  }
  return tell(context, { runs }, () => {});
}

export async function enableWatchesCommand(
  context: Context,
  enabled: boolean,
  ids: readonly string[],
): Promise<ExitCode> {
  const client = clientOf(context, 'write');
  const watches: WatchResponse[] = [];
  for (const id of ids) {
    const watch = await client.call<WatchResponse>('PATCH', watchPath(id), { enabled }, context.signal);
    watches.push(watch);
    if (!context.json) sayWatch(context.terminal, watch);
  }
  return tell(context, { watches }, () => {});
}

const watchPath = (id: string): string => `/v1/watches/${encodeURIComponent(id)}`;

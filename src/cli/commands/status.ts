/** `readback status`: whether the service runs, and what the data folder holds. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type JobStatus, jobStatuses } from '../../domain/job.ts';
import type { IndexState } from '../../domain/messages.ts';
import type { MetricsSummaryResponse } from '../../domain/metrics.ts';
import { networkName } from '../../providers/network.ts';
import type { StoreReader } from '../../store/store.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf, withStore } from '../context.ts';
import { counted } from '../page-lines.ts';
import { type ServiceClient, ServiceError, UnreachableError } from '../service-client.ts';
import { bytesText, plain, table } from '../terminal.ts';
import { wrapped } from '../text-width.ts';

interface ServiceStatus {
  url: string;
  running: boolean;
  ready: boolean;
  reason: string | null;
  /** What it says of its index; null where it does not say. */
  index: IndexState | null;
  /** Whether it takes the token that this command has; null where no service answers. */
  knows_token: boolean | null;
  /** Null where that cannot be known: no service, none of its tokens. */
  network: 'up' | 'away' | null;
}

type StoreStatus = Awaited<ReturnType<typeof storeStatus>>;

/** 0 where the service runs and is ready, 3 where none answers, 1 where it is not ready. */
export async function statusCommand(context: Context): Promise<ExitCode> {
  const { terminal, json, settings, url } = context;
  const service = await serviceStatus(context);
  const hasStore = url === undefined && existsSync(join(settings.data_dir, 'store'));
  const store = hasStore ? await storeStatus(context) : null;
  if (json) terminal.json({ service, data_dir: url === undefined ? settings.data_dir : null, store });
  else {
    const state = service.ready
      ? terminal.style('green', 'ready')
      : terminal.style('red', service.running ? `not ready: ${service.reason}` : 'not running');
    const rows = [['service', `${state}, ${service.url}`]];
    if (service.knows_token === false)
      rows.push(['token', terminal.style('red', 'the service does not know it: it has another data folder')]);
    if (service.index?.state === 'rebuilding')
      rows.push(['index', terminal.style('yellow', rebuilding(service.index))]);
    if (service.network === 'away') rows.push(['network', terminal.style('red', awayText(store))]);
    if (url === undefined) rows.push(['data folder', `${settings.data_dir}${hasStore ? '' : ' (nothing in it yet)'}`]);
    if (store !== null) rows.push(...storeRows(store));
    const name = 'data folder'.length;
    for (const line of table(rows.map(([first, value]) => [first.padEnd(name), value]))) terminal.say(line);
    for (const hint of store === null ? [] : hints(store)) {
      for (const line of wrapped(hint.trimStart(), terminal.columns, /^ */.exec(hint)?.[0])) terminal.say(line);
    }
  }
  if (!service.running) return exitCodes.unreachable;
  return service.ready ? exitCodes.done : exitCodes.failed;
}

function storeRows({ bytes, pages, page_states, active_model, jobs, watches, watches_failing, rules }: StoreStatus) {
  const [because] = watches_failing;
  const failing = because === undefined ? '' : `, ${watches_failing.length} with an error: ${because}`;
  return [
    ['store', bytesText(bytes)],
    ['pages', pages === 0 ? '0' : `${pages}: ${tallied(page_states)}`],
    ['model', active_model ?? 'none'],
    ['jobs', tallied(jobs)],
    ['watches', `${watches}${failing}`],
    ['blacklist', counted(rules, 'rule')],
  ];
}

/** Those that there are, in their order. */
function tallied(counts: Readonly<Record<string, number>>): string {
  const told = Object.entries(counts).filter(([, count]) => count > 0);
  return told.length === 0 ? 'none' : told.map(([name, count]) => `${count} ${name}`).join(', ');
}

function awayText(store: StoreStatus | null): string {
  const waiting = store === null ? '' : `: ${store.waiting_to_be_fetched} pages wait`;
  return `away${waiting}, tried again twice a minute`;
}

/** What to do about pages that are not found by their text. */
function hints({ page_states, dead_because }: StoreStatus): string[] {
  const lines: string[] = [];
  if (page_states.dead > 0) {
    lines.push('dead: given up; see `readback jobs --status dead`, try again: `readback jobs retry`');
    for (const [why, count] of dead_because) lines.push(`  ${count}: ${why}`);
  }
  if (page_states.failed > 0) lines.push('failed: tried again by itself; see why: `readback jobs --status failed`');
  return lines;
}

async function serviceStatus(context: Context): Promise<ServiceStatus> {
  const client = clientOf(context, 'read');
  const { baseUrl } = client;
  const unknown = { reason: null, knows_token: null, network: null, index: null };
  const status = { url: baseUrl, running: true, ready: true, ...unknown };
  try {
    const { index = null } = await client.call<{ index?: IndexState }>('GET', '/readyz');
    // Of several libraries one may be ready, and this one not.
    return { ...status, ...(await networkOf(client)), index };
  } catch (error) {
    if (error instanceof UnreachableError)
      return { ...status, running: false, ready: false, reason: 'nothing answers' };
    if (error instanceof ServiceError) return { ...status, ready: false, reason: error.message };
    throw error;
  }
}

/** Of a service that needs no token to say that it is ready. */
async function networkOf(client: ServiceClient): Promise<Pick<ServiceStatus, 'knows_token' | 'network'>> {
  try {
    const { breakers } = await client.call<MetricsSummaryResponse>('GET', '/v1/admin/metrics/summary');
    const breaker = breakers.find(({ name }) => name === networkName);
    return { knows_token: true, network: breaker === undefined || breaker.state === 'closed' ? 'up' : 'away' };
  } catch (error) {
    if (error instanceof ServiceError && error.status !== 503)
      return { knows_token: error.status !== 401, network: null };
    throw error;
  }
}

/** How far an index is that is built again. */
function rebuilding({ indexed_chunks, total_chunks }: IndexState): string {
  const percent = total_chunks === 0 ? 0 : Math.floor((100 * indexed_chunks) / total_chunks);
  return `built again, ${percent} % done: searches do not find everything yet`;
}

function storeStatus(context: Context) {
  return withStore(context, (view) => {
    const { reader } = view;
    const watches = reader.watches.list();
    return {
      bytes: view.usedBytes(),
      ...pageCounts(reader),
      active_model: reader.models.activeId(),
      jobs: Object.fromEntries(jobStatuses.map((status) => [status, reader.jobs.countByStatus(status)])),
      watches: watches.length,
      watches_failing: watches.flatMap(({ status, last_error }) =>
        status === 'error' ? [plain(last_error ?? '', 400)] : [],
      ),
      rules: reader.blacklist.list().length,
    };
  });
}

/** Reasons that are told. */
const mostReasons = 5;

/** Pages by where they are, told by the jobs that bring them to the index. */
function pageCounts({ pages, jobs }: StoreReader) {
  const count = (status: JobStatus) => {
    const reasons = new Map<string, number>();
    const found = { all: 0, toFetch: 0, reasons };
    for (const { kind, last_error } of jobs.withStatus(status)) {
      if (kind !== 'index_page' && kind !== 'fetch_and_index') continue;
      found.all++;
      if (kind === 'fetch_and_index') found.toFetch++;
      const why = plain(last_error ?? 'no reason', 400);
      reasons.set(why, (reasons.get(why) ?? 0) + 1);
    }
    return found;
  };
  const [queued, indexing, failed, dead] = (['pending', 'running', 'failed', 'dead'] as const).map(count);
  const total = pages.count();
  const indexed = total - queued.all - indexing.all - failed.all - dead.all;
  return {
    pages: total,
    page_states: {
      indexed: Math.max(0, indexed),
      queued: queued.all,
      indexing: indexing.all,
      failed: failed.all,
      dead: dead.all,
    },
    waiting_to_be_fetched: queued.toFetch,
    dead_because: [...dead.reasons].sort(([, a], [, b]) => b - a).slice(0, mostReasons),
  };
}

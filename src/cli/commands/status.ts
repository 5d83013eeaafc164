import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { clockAheadText, daysAhead } from '../../actors/system/retention.ts';
import type { MetricsSummaryResponse } from '../../domain/admin.ts';
import { type JobStatus, jobStatuses } from '../../domain/job.ts';
import type { IndexState } from '../../domain/messages.ts';
import type { ModelListResponse } from '../../domain/model.ts';
import { networkName } from '../../providers/network.ts';
import type { StoreReader } from '../../store/store.ts';
import { type Context, clientOf, type ServiceClient, ServiceError, UnreachableError, withStore } from '../context.ts';
import { bytesText, counted, type ExitCode, exitCodes, plain, table } from '../output.ts';

interface ServiceStatus {
  url: string;
  running: boolean;
  ready: boolean;
  reason: string | null;
  index: IndexState | null;
  /** Whether the service accepts this command's token; null without a service. */
  knows_token: boolean | null;
  /** Null if unknown: no service, or no valid token. */
  network: 'up' | 'away' | null;
  /** The encoder's device, or why it cannot run; null before its first use or if unknown. */
  encoder: string | null;
}

type StoreStatus = Awaited<ReturnType<typeof storeStatus>>;

/** 0 if the service is ready, 3 if none answers, 1 if it is not ready. */
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
      rows.push(['token', terminal.style('red', 'the service does not accept it: it uses another data folder')]);
    if (service.index?.state === 'rebuilding')
      rows.push(['index', terminal.style('yellow', rebuilding(service.index))]);
    if (service.encoder !== null) rows.push(['encoder', plain(service.encoder, 200)]);
    if (service.network === 'away') rows.push(['network', terminal.style('red', awayText(store))]);
    if (url === undefined) rows.push(['data folder', `${settings.data_dir}${hasStore ? '' : ' (empty)'}`]);
    if (store !== null) rows.push(...storeRows(store));
    if (store?.clock_days_ahead != null)
      rows.push(['clock', terminal.style('yellow', clockAheadText(store.clock_days_ahead))]);
    for (const line of table(rows)) terminal.say(line);
    for (const hint of store === null ? [] : hints(store)) terminal.say(hint);
  }
  if (!service.running) return exitCodes.unreachable;
  return service.ready ? exitCodes.done : exitCodes.failed;
}

function storeRows(store: StoreStatus) {
  const { pages, active_model, vectors_pending, watches_failing } = store;
  const [because] = watches_failing;
  const failing = because === undefined ? '' : `, ${watches_failing.length} with an error: ${because}`;
  return [
    ['store', bytesText(store.bytes)],
    ['pages', pages === 0 ? '0' : `${pages}: ${tallied(store.page_states)}`],
    ['model', `${active_model ?? 'none'}${vectors_pending === null ? '' : pendingText(vectors_pending)}`],
    ['jobs', tallied(store.jobs)],
    ['watches', `${store.watches}${failing}`],
    ['blocked', counted(store.rules, 'site or page', 'sites and pages')],
  ];
}

function pendingText({ chunks, pages, paused }: NonNullable<StoreStatus['vectors_pending']>): string {
  const state = paused ? ', paused' : '';
  return `, ${counted(chunks, 'passage')} of ${counted(pages, 'page')} without vectors${state}`;
}

function tallied(counts: Readonly<Record<string, number>>): string {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  return present.length === 0 ? 'none' : present.map(([name, count]) => `${count} ${name}`).join(', ');
}

function awayText(store: StoreStatus | null): string {
  const waiting = store === null ? '' : `: ${store.waiting_to_be_fetched} pages wait`;
  return `unreachable${waiting}; retried twice a minute`;
}

function hints({ page_states, dead_because }: StoreStatus): string[] {
  const lines: string[] = [];
  if (page_states.dead > 0) {
    lines.push('dead: see `readback jobs --status dead`; retry: `readback jobs retry`');
    for (const [why, count] of dead_because) lines.push(`  ${count}: ${why}`);
  }
  if (page_states.failed > 0) lines.push('failed: retried automatically; see `readback jobs --status failed`');
  return lines;
}

async function serviceStatus(context: Context): Promise<ServiceStatus> {
  const client = clientOf(context, 'read');
  const { baseUrl } = client;
  const unknown = { reason: null, knows_token: null, network: null, index: null, encoder: null };
  const status = { url: baseUrl, running: true, ready: true, ...unknown };
  try {
    const { index = null } = await client.call<{ index?: IndexState }>('GET', '/readyz');
    // Of several libraries, another one may be ready.
    return { ...status, ...(await askedWithToken(client)), index };
  } catch (error) {
    if (error instanceof UnreachableError)
      return { ...status, running: false, ready: false, reason: 'nothing answers' };
    if (error instanceof ServiceError) return { ...status, ready: false, reason: error.message };
    throw error;
  }
}

/** For a service that reports readiness without a token. */
async function askedWithToken(
  client: ServiceClient,
): Promise<Pick<ServiceStatus, 'knows_token' | 'network' | 'encoder'>> {
  try {
    const { breakers } = await client.call<MetricsSummaryResponse>('GET', '/v1/admin/metrics/summary');
    const { models } = await client.call<ModelListResponse>('GET', '/v1/models');
    const encoder = models.find(({ runtime }) => runtime != null)?.runtime ?? null;
    const breaker = breakers.find(({ name }) => name === networkName);
    return { knows_token: true, encoder, network: breaker === undefined || breaker.state === 'closed' ? 'up' : 'away' };
  } catch (error) {
    if (error instanceof ServiceError && error.status !== 503)
      return { knows_token: error.status !== 401, network: null, encoder: null };
    throw error;
  }
}

function rebuilding({ indexed_chunks, total_chunks }: IndexState): string {
  const percent = total_chunks === 0 ? 0 : Math.floor((100 * indexed_chunks) / total_chunks);
  return `rebuilding, ${percent} % done: results may be incomplete`;
}

function storeStatus(context: Context) {
  return withStore(context, (view) => {
    const { reader } = view;
    const watches = reader.watches.list();
    return {
      bytes: view.usedBytes(),
      ...pageCounts(reader),
      active_model: reader.models.activeId(),
      vectors_pending: vectorsPending(reader),
      jobs: Object.fromEntries(jobStatuses.map((status) => [status, reader.jobs.countByStatus(status)])),
      watches: watches.length,
      watches_failing: watches.flatMap(({ status, last_error }) =>
        status === 'error' ? [plain(last_error ?? '', 400)] : [],
      ),
      rules: reader.blacklist.list().length,
      clock_days_ahead: daysAhead(reader, context.now()),
    };
  });
}

function vectorsPending({ models, backfills }: StoreReader) {
  const active = models.activeModel();
  const pending = active === undefined ? null : backfills.pending(active.space);
  return pending === null || pending.pages === 0 ? null : { ...pending, paused: models.isFillPaused() };
}

const maxReasons = 5;

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
      ...{ indexed: Math.max(0, indexed), queued: queued.all, indexing: indexing.all },
      ...{ failed: failed.all, dead: dead.all },
    },
    waiting_to_be_fetched: queued.toFetch,
    dead_because: [...dead.reasons].sort(([, a], [, b]) => b - a).slice(0, maxReasons),
  };
}

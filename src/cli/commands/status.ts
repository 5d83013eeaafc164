/** `readback status`: whether the service runs, and what the data folder holds. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { jobStatuses } from '../../domain/job.ts';
import type { IndexState } from '../../domain/messages.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf, withStore } from '../context.ts';
import { ServiceError, UnreachableError } from '../service-client.ts';
import { bytesText, table } from '../terminal.ts';

interface ServiceStatus {
  url: string;
  running: boolean;
  ready: boolean;
  reason: string | null;
  /** What it says of its index; null where it does not say. */
  index: IndexState | null;
}

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
    terminal.say(`service      ${state}, ${service.url}`);
    if (service.index?.state === 'rebuilding')
      terminal.say(`index        ${terminal.style('yellow', rebuilding(service.index))}`);
    if (url === undefined) terminal.say(`data folder  ${settings.data_dir}${hasStore ? '' : ' (nothing in it yet)'}`);
    if (store !== null) {
      const jobs = Object.entries(store.jobs).map(([status, count]) => `${count} ${status}`);
      const rows = [
        ['store', bytesText(store.bytes)],
        ['pages', String(store.pages)],
        ['model', store.active_model ?? 'none'],
        ['jobs', jobs.join(', ')],
        ['watches', String(store.watches)],
        ['blacklist', `${store.rules} rules`],
      ];
      for (const line of table(rows.map(([name, value]) => [name.padEnd(11), value]))) terminal.say(line);
    }
  }
  if (!service.running) return exitCodes.unreachable;
  return service.ready ? exitCodes.done : exitCodes.failed;
}

async function serviceStatus(context: Context): Promise<ServiceStatus> {
  const client = clientOf(context, 'read');
  const { baseUrl } = client;
  try {
    const { index = null } = await client.call<{ index?: IndexState }>('GET', '/readyz');
    return { url: baseUrl, running: true, ready: true, reason: null, index };
  } catch (error) {
    if (error instanceof UnreachableError)
      return { url: baseUrl, running: false, ready: false, reason: 'nothing answers', index: null };
    if (error instanceof ServiceError)
      return { url: baseUrl, running: true, ready: false, reason: error.message, index: null };
    throw error;
  }
}

/** How far an index is that is built again. */
function rebuilding({ indexed_chunks, total_chunks }: IndexState): string {
  const percent = total_chunks === 0 ? 0 : Math.floor((100 * indexed_chunks) / total_chunks);
  return `built again, ${percent} % done: searches do not find everything yet`;
}

function storeStatus(context: Context) {
  return withStore(context, (view) => ({
    bytes: view.usedBytes(),
    pages: view.reader.pages.count(),
    active_model: view.reader.models.activeId(),
    jobs: Object.fromEntries(jobStatuses.map((status) => [status, view.reader.jobs.countByStatus(status)])),
    watches: view.reader.watches.list().length,
    rules: view.reader.blacklist.list().length,
  }));
}

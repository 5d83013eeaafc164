/** `readback demo`: demo pages in an empty library, or in a folder of their own if no service runs. */
import { demoDomain } from '../../domain/demo.ts';
import type { DemoAddedResponse, DemoRemovedResponse, PageListResponse } from '../../domain/page.ts';
import { type Context, clientOf, get, post, type ServiceContext, tell } from '../context.ts';
import { counted, type ExitCode, exitCodes } from '../output.ts';
import { waitFor } from './add.ts';
import { searchCommand } from './search.ts';

const query = 'why do tomatoes crack after heavy rain';

export async function demoCommand(
  context: Context,
  serve: (options: { demo: boolean }) => Promise<void>,
): Promise<ExitCode> {
  if (context.url !== undefined || (await clientOf(context, 'read').isUp())) return await showDemo(context);
  await serve({ demo: true });
  return exitCodes.done;
}

/** Errors: ServiceError 409 in a library with other pages. */
export async function showDemo(context: ServiceContext): Promise<ExitCode> {
  const { terminal } = context;
  const { pages } = await get<PageListResponse>(context, `/v1/pages?domain=${demoDomain}&limit=1`);
  if (pages.length === 0) {
    const { page_ids } = await post<DemoAddedResponse>(context, '/v1/demo');
    await waitFor(context, page_ids);
  }
  if (!context.json) terminal.say(`\nsearch: ${query}\n`);
  const args = { limit: 3, domain: demoDomain, sort: 'relevance', rerank: true, spelling: true } as const;
  return await searchCommand(context, query.split(' '), args);
}

export async function removeDemoCommand(context: Context): Promise<ExitCode> {
  const { call } = clientOf(context, 'write');
  const removed = await call<DemoRemovedResponse>('DELETE', '/v1/demo', undefined, context.signal);
  return tell(context, removed, ({ say }) => say(`deleted ${counted(removed.pages_purged, 'demo page')}`));
}

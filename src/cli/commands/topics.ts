/** `readback topics`: what the pages are about, and the pages of one topic. */
import type { ClusterDetailResponse, ClusterListResponse, RecomputeResponse } from '../../domain/cluster.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';
import { counted, titled } from '../page-lines.ts';
import { plain } from '../terminal.ts';
import { fitted } from '../text-width.ts';

export async function topicsCommand(context: Context): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  const found = await clientOf(context, 'read').call<ClusterListResponse>('GET', '/v1/clusters', undefined, signal);
  if (json) terminal.json(found);
  else if (found.clusters.length === 0) terminal.say('no topics were found yet: readback topics find');
  else {
    const width = String(Math.max(...found.clusters.map(({ size }) => size))).length;
    for (const { id, label, keywords, size } of found.clusters) {
      const name = label ?? keywords.join(', ');
      const more = keywords.filter((keyword) => !name.toLowerCase().includes(keyword.toLowerCase()));
      const about = more.length === 0 ? '' : ` · ${more.join(', ')}`;
      terminal.say(fitted(`${id}  ${String(size).padStart(width)}  ${plain(name + about, 2000)}`, terminal.columns));
    }
  }
  return exitCodes.done;
}

export async function topicCommand(context: Context, id: string, { limit }: { limit: number }): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  const path = `/v1/clusters/${encodeURIComponent(id)}?limit=${limit}`;
  const found = await clientOf(context, 'read').call<ClusterDetailResponse>('GET', path, undefined, signal);
  if (json) {
    terminal.json(found);
    return exitCodes.done;
  }
  const { cluster, pages, total = pages.length } = found;
  const name = cluster.label ?? cluster.keywords.join(', ');
  const state = cluster.tombstoned ? 'no topic any more' : counted(total, 'page');
  terminal.say(`${terminal.style('bold', plain(name, 200))} (${state})`);
  for (const page of pages) {
    terminal.say(fitted(`${page.page_id}  ${titled(page.title, page.canonical_url)}`, terminal.columns));
  }
  if (pages.length < total) terminal.note(`the most typical ${pages.length} of ${total}; --limit shows more`);
  return exitCodes.done;
}

export async function findTopicsCommand(context: Context): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  const path = '/v1/clusters/recompute';
  const answer = await clientOf(context, 'write').call<RecomputeResponse>('POST', path, undefined, signal);
  if (json) terminal.json(answer);
  else if (answer.accepted) terminal.say('topics are found anew: readback jobs --kind cluster');
  else terminal.note(`not now: ${plain(answer.detail ?? 'refused', 300)}`);
  return answer.accepted ? exitCodes.done : exitCodes.failed;
}

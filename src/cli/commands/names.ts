/** `readback names`: persons, places and things that pages mention. */
import type {
  EntityDetailResponse,
  EntityMergeListResponse,
  PageEntitiesResponse,
  UndoMergeResponse,
} from '../../domain/entity.ts';
import type { PageResponse } from '../../domain/page.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';
import { counted, day, titled } from '../page-lines.ts';
import { plain, table } from '../terminal.ts';
import { fitted, wrapped } from '../text-width.ts';
import { pageIdOf } from './pages.ts';

export async function nameCommand(context: Context, name: string, { limit }: { limit: number }): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  const client = clientOf(context, 'read');
  const path = `/v1/entities/${encodeURIComponent(name)}`;
  const found = await client.call<EntityDetailResponse>('GET', path, undefined, signal);
  if (json) {
    terminal.json(found);
    return exitCodes.done;
  }
  const { entity, aliases, page_ids } = found;
  const mentions = `${counted(entity.mention_count, 'mention')} in ${counted(entity.page_count, 'page')}`;
  terminal.say(
    `${terminal.style('bold', plain(entity.canonical_form, 200))} (${entity.type}, ${entity.id}): ${mentions}`,
  );
  const others = aliases.filter((alias) => alias !== entity.canonical_form).map((alias) => plain(alias, 100));
  if (others.length > 0) for (const line of wrapped(`also ${others.join(', ')}`, terminal.columns)) terminal.say(line);
  for (const id of page_ids.slice(0, limit)) {
    const page = await client.call<PageResponse>('GET', `/v1/pages/${id}?length=1`, undefined, signal);
    terminal.say(fitted(`${id}  ${titled(page.title, page.canonical_url)}`, terminal.columns));
  }
  if (page_ids.length > limit) terminal.note(`${limit} of ${page_ids.length} pages; --limit shows more`);
  return exitCodes.done;
}

export async function namesOfPageCommand(context: Context, page: string): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  const path = `/v1/pages/${encodeURIComponent(await pageIdOf(context, page))}/entities`;
  const found = await clientOf(context, 'read').call<PageEntitiesResponse>('GET', path, undefined, signal);
  if (json) terminal.json(found);
  else if (found.entities.length === 0) terminal.say('no names were found in it');
  else {
    const rows = found.entities.map(({ id, type, page_count, canonical_form }) => [
      id,
      type,
      counted(page_count, 'page'),
      plain(canonical_form, 200),
    ]);
    for (const line of table(rows)) terminal.say(fitted(line, terminal.columns));
  }
  return exitCodes.done;
}

export async function mergesCommand(context: Context): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  const path = '/v1/admin/entity-merges';
  const found = await clientOf(context, 'read').call<EntityMergeListResponse>('GET', path, undefined, signal);
  if (json) terminal.json(found);
  else if (found.merges.length === 0) terminal.say('no names were put together');
  else {
    for (const { merge_id, merged_form, kept_form, merged_at, undone_at } of found.merges) {
      const undone = undone_at === null ? '' : `, undone ${day(undone_at)}`;
      const line = `${merge_id}  ${day(merged_at)}  ${plain(merged_form, 200)} → ${plain(kept_form, 200)}${undone}`;
      terminal.say(fitted(line, terminal.columns));
    }
  }
  return exitCodes.done;
}

export async function undoMergeCommand(context: Context, id: string): Promise<ExitCode> {
  const path = `/v1/entities/merges/${encodeURIComponent(id)}/undo`;
  const answer = await clientOf(context, 'write').call<UndoMergeResponse>('POST', path, undefined, context.signal);
  if (context.json) context.terminal.json(answer);
  else context.terminal.say(`${answer.restored_entity_id} is a name of its own again`);
  return exitCodes.done;
}

import type { ClusterDetailResponse, ClusterListResponse, RecomputeResponse } from '../../domain/cluster.ts';
import type * as entity from '../../domain/entity.ts';
import type { PageResponse } from '../../domain/page.ts';
import { type Context, get, post, tell } from '../context.ts';
import { counted, day, type ExitCode, exitCodes, plain, type Terminal, table, titled } from '../output.ts';
import { pageIdOf } from './pages.ts';

const maxListed = 500;

export interface NamesArguments {
  type?: string;
  limit: number;
}

/** The most frequent names, or those with `part` in a spelling. */
export async function namesCommand(
  context: Context,
  { type, limit }: NamesArguments,
  part?: string,
): Promise<ExitCode> {
  const query = { limit: String(Math.min(limit, maxListed)), ...(part && { q: part }), ...(type && { type }) };
  const found = await get<entity.EntityListResponse>(context, `/v1/entities?${new URLSearchParams(query)}`);
  return tell(context, found, (terminal) => {
    if (found.entities.length === 0) return terminal.say('no names');
    sayNames(terminal, found.entities);
    if (found.next_cursor !== null)
      terminal.note(`the most frequent ${query.limit}; --limit shows more, max ${maxListed}`);
  });
}

function sayNames(terminal: Terminal, entities: readonly entity.EntitySummary[]): void {
  const rows = entities.map(({ id, type, page_count, canonical_form }) => [
    id,
    type,
    counted(page_count, 'page'),
    plain(canonical_form, 200),
  ]);
  for (const line of table(rows)) terminal.line(line);
}

export async function nameCommand(context: Context, name: string, { limit }: NamesArguments): Promise<ExitCode> {
  const { terminal, json } = context;
  const found = await get<entity.EntityDetailResponse>(context, `/v1/entities/${encodeURIComponent(name)}`);
  if (json) return tell(context, found, () => {});
  const { entity, aliases, page_ids } = found;
  const mentions = `${counted(entity.mention_count, 'mention')} in ${counted(entity.page_count, 'page')}`;
  terminal.say(
    `${terminal.style('bold', plain(entity.canonical_form, 200))} (${entity.type}, ${entity.id}): ${mentions}`,
  );
  const others = aliases.filter((alias) => alias !== entity.canonical_form).map((alias) => plain(alias, 100));
  if (others.length > 0) terminal.say(`also ${others.join(', ')}`);
  for (const id of page_ids.slice(0, limit)) {
    const page = await get<PageResponse>(context, `/v1/pages/${id}?length=1`);
    terminal.line(`${id}  ${titled(page.title, page.canonical_url)}`);
  }
  if (page_ids.length > limit) terminal.note(`${limit} of ${page_ids.length} pages; --limit shows more`);
  return exitCodes.done;
}

export async function namesOfPageCommand(context: Context, page: string): Promise<ExitCode> {
  const path = `/v1/pages/${encodeURIComponent(await pageIdOf(context, page))}/entities`;
  const found = await get<entity.PageEntitiesResponse>(context, path);
  return tell(context, found, (terminal) => {
    if (found.entities.length === 0) return terminal.say('no names in this page');
    sayNames(terminal, found.entities);
  });
}

export async function mergesCommand(context: Context, name?: string): Promise<ExitCode> {
  const path = `/v1/admin/entity-merges${name === undefined ? '' : `?entity=${encodeURIComponent(name)}`}`;
  const found = await get<entity.EntityMergeListResponse>(context, path);
  // A rejected pair is stored as a merge that was undone at once.
  const merges = found.merges.filter((each) => each.made_by !== 'user' || each.undone_at !== each.merged_at);
  return tell(context, found, (terminal) => {
    if (merges.length === 0) terminal.say('no merges');
    for (const { merge_id, merged_form, kept_form, merged_at, undone_at, made_by } of merges) {
      const by = made_by === 'user' ? ', by you' : '';
      const split = undone_at === null ? '' : `, split ${day(undone_at)}`;
      const line = `${merge_id}  ${day(merged_at)}  ${plain(merged_form, 200)} → ${plain(kept_form, 200)}${by}${split}`;
      terminal.line(line);
    }
  });
}

/** Pairs that may be one name. `decide` accepts or rejects one of them. */
export async function suggestionsCommand(context: Context): Promise<ExitCode> {
  const found = await get<entity.EntitySuggestionListResponse>(context, '/v1/admin/entity-suggestions');
  return tell(context, found, (terminal) => {
    if (found.suggestions.length === 0) terminal.say('no names may be one');
    const rows = found.suggestions.map((each) => [
      each.entity_id,
      each.other_entity_id,
      each.type,
      `${plain(each.form, 200)} = ${plain(each.other_form, 200)}?`,
    ]);
    for (const line of table(rows)) terminal.line(line);
  });
}

export async function decideCommand(
  context: Context,
  route: 'merge' | 'reject',
  name: string,
  other: string,
): Promise<ExitCode> {
  const path = `/v1/entities/${encodeURIComponent(name)}/${route}`;
  const answer = await post<entity.EntityMergeResponse>(context, path, { with: other });
  const [kept, merged] = [plain(answer.kept_form, 200), plain(answer.merged_form, 200)];
  return tell(context, answer, ({ say }) =>
    say(route === 'merge' ? `${merged} is ${kept} now` : `${merged} and ${kept} stay two`),
  );
}

export async function splitMergeCommand(context: Context, id: string): Promise<ExitCode> {
  const path = `/v1/entities/merges/${encodeURIComponent(id)}/split`;
  const answer = await post<entity.UndoMergeResponse>(context, path);
  return tell(context, answer, ({ say }) => say(`${answer.restored_entity_id} is a separate name again`));
}

export async function topicsCommand(context: Context): Promise<ExitCode> {
  const found = await get<ClusterListResponse>(context, '/v1/clusters');
  return tell(context, found, (terminal) => {
    if (found.clusters.length === 0) return terminal.say('no topics yet: readback topics find');
    const width = String(Math.max(...found.clusters.map(({ size }) => size))).length;
    for (const { id, label, keywords, size } of found.clusters) {
      const name = label ?? keywords.join(', ');
      const more = keywords.filter((keyword) => !name.toLowerCase().includes(keyword.toLowerCase()));
      const about = more.length === 0 ? '' : ` · ${more.join(', ')}`;
      terminal.line(`${id}  ${String(size).padStart(width)}  ${plain(name + about, 2000)}`);
    }
  });
}

export async function topicCommand(context: Context, id: string, { limit }: { limit: number }): Promise<ExitCode> {
  const path = `/v1/clusters/${encodeURIComponent(id)}?limit=${limit}`;
  const found = await get<ClusterDetailResponse>(context, path);
  const { cluster, pages, total = pages.length } = found;
  return tell(context, found, (terminal) => {
    const name = cluster.label ?? cluster.keywords.join(', ');
    const state = cluster.tombstoned ? 'deleted' : counted(total, 'page');
    terminal.say(`${terminal.style('bold', plain(name, 200))} (${state})`);
    for (const page of pages) terminal.line(`${page.page_id}  ${titled(page.title, page.canonical_url)}`);
    if (pages.length < total) terminal.note(`the most typical ${pages.length} of ${total}; --limit shows more`);
  });
}

export async function findTopicsCommand(context: Context): Promise<ExitCode> {
  const answer = await post<RecomputeResponse>(context, '/v1/clusters/recompute');
  tell(context, answer, (terminal) => {
    if (answer.accepted) terminal.say('refreshing topics: readback jobs --kind cluster');
    else terminal.note(`not now: ${plain(answer.detail ?? 'refused', 300)}`);
  });
  return answer.accepted ? exitCodes.done : exitCodes.failed;
}

/**
 * The entities: answers what is known of them, merges them by hand and undoes merges, queues the pages that were indexed earlier to be read, and has names
 * compared when nothing else is to be done.
 */
import type { Logger } from 'pino';
import { canonicalForm, mentionsOf, pageCountOf, pagesOfTree, rootOf, treeOf } from '../../commands/entity-trees.ts';
import { queueMatching } from '../../commands/match-entities.ts';
import { mergeEntities, undoMerge } from '../../commands/merge-entities.ts';
import { sweepPages } from '../../commands/page-entities.ts';
import type {
  Entity,
  EntityDetailResponse,
  EntityMerge,
  EntityMergeListResponse,
  EntityMergeResponse,
  EntitySummary,
} from '../../domain/entity.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import { idOf, isoOf, numberOf } from '../../domain/ids.ts';
import type { MessageName } from '../../domain/messages.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';
import type { Handlers, StartService } from '../system/service.ts';
import type { CommitCommand } from '../system/system-messages.ts';
import { listEntities } from './list-entities.ts';
import { entityIdf, requireEntity } from './resolve-entity.ts';

export interface EntitiesDependencies {
  reader: StoreReader;
  commit: CommitCommand;
  maxAttempts: number;
  /** Whether pages are read for entities; those that are known are answered all the same. */
  enabled: boolean;
  log: Logger;
  now: () => number;
}

type EntityMessages = Extract<MessageName, `entity.${string}`> | 'page.entities';

/** Pages looked at in one transaction of the sweep: some ms. */
const sweptAtOnce = 100;
/** How often it is looked whether there is nothing else to do, ms. */
const idleMs = 30_000;
/** Rest after a comparison of names for each of them, which takes some 4 µs of the main thread, ms. */
const restPerNameMs = 1;
const maxMerges = 1000;

export function entitiesService({
  reader,
  commit,
  maxAttempts,
  enabled,
  log,
  now,
}: EntitiesDependencies): StartService<EntityMessages> {
  const { entities } = reader;
  const policy = () => ({ at: now(), max_attempts: maxAttempts });

  const summaryOf = (root: Entity): EntitySummary => ({
    id: idOf('entity', root.no),
    canonical_form: canonicalForm(root),
    type: root.type,
    mention_count: mentionsOf(entities, root),
    page_count: pageCountOf(root),
    idf: entityIdf(entities, root),
  });

  const detailOf = (root: Entity): EntityDetailResponse => {
    const entity = summaryOf(root);
    const spellings = new Set(treeOf(entities, root).flatMap(({ forms }) => forms.map(([form]) => form)));
    spellings.delete(entity.canonical_form);
    const page_ids = pagesOfTree(entities, root).map((no) => idOf('page', no));
    return { entity, aliases: [...spellings], page_ids };
  };

  const merge = async (ref: string, other: string): Promise<EntityMergeResponse> => {
    const [a, b] = [requireEntity(entities, ref), requireEntity(entities, other)];
    if (a.no === b.no) throw new DomainError('conflict', 'these are one name already');
    if (a.type !== b.type)
      throw new DomainError(
        'conflict',
        `one is of type ${a.type}, the other of type ${b.type}: only names of one type are merged`,
      );
    const merged = await commit(mergeEntities(a.no, b.no, now()));
    const shown = merged === null ? null : presentMerge(reader, merged);
    if (shown === null)
      throw new DomainError('conflict', 'a merge of these, or of names that they stand for, was undone: they stay two');
    return shown;
  };

  const undo = async (merge_id: string): Promise<{ restored_entity_id: string }> => {
    const no = numberOf('merge', merge_id);
    const undone = no === null ? ({ outcome: 'unknown' } as const) : await commit(undoMerge(no, now()));
    switch (undone.outcome) {
      case 'undone':
        return { restored_entity_id: idOf('entity', undone.restored) };
      case 'unknown':
        throw unknownId('merge', merge_id);
      case 'undone_before':
        throw new DomainError('conflict', `the merge ${merge_id} was undone before`);
      case 'not_latest': {
        const latest = idOf('merge', undone.latest);
        throw new DomainError('conflict', `merges are undone last in, first out: the latest is ${latest}`);
      }
    }
  };

  const handlers: Handlers<EntityMessages> = {
    'entity.list': async (query, signal) => {
      const { roots, next_cursor } = await listEntities(entities, query, signal);
      return { entities: roots.map(summaryOf), next_cursor };
    },
    'entity.get': ({ ref }) => detailOf(requireEntity(entities, ref)),
    'entity.merge': ({ ref, with: other }) => merge(ref, other),
    'entity.undoMerge': ({ merge_id }) => undo(merge_id),
    'entity.merges': (): EntityMergeListResponse => ({
      merges: entities.merges(maxMerges).flatMap((merge) => presentMerge(reader, merge) ?? []),
    }),
    'page.entities': ({ page_id }) => {
      const no = numberOf('page', page_id);
      if (no === null || !reader.pages.has(no)) {
        throw unknownId('page', page_id);
      }
      const roots = new Map<number, Entity>();
      for (const mentioned of entities.ofPage(no) ?? []) {
        const entity = entities.get(mentioned.no);
        if (entity === undefined) continue;
        const root = rootOf(entities, entity);
        roots.set(root.no, root);
      }
      return { page_id, entities: [...roots.values()].map(summaryOf) };
    },
  };

  return async () => {
    if (!enabled) return { handlers };
    const background = new Background(log);
    background.soon('pages that came before are read for names from the next start on', () =>
      background.slices(true, async () => (await commit(sweepPages(sweptAtOnce, policy()))) || null),
    );
    const queueIfDue = async () => {
      if (entities.state('unmatched') === 0 || reader.jobs.nextDueAt('entities') !== undefined) return;
      const compared = reader.jobs.get(entities.state('matching_job'))?.updated_at ?? 0;
      if (now() < compared + entities.count() * restPerNameMs) return;
      await commit(queueMatching(policy()));
    };
    background.every(idleMs, 'names could not be queued to be compared', queueIfDue);
    return { handlers, stop: () => background.stop() };
  };
}

function presentMerge(
  { entities }: StoreReader,
  { no, kept, merged, merged_at, undone_at }: EntityMerge,
): EntityMergeResponse | null {
  const [into, from] = [entities.get(kept), entities.get(merged)];
  if (into === undefined || from === undefined) return null;
  return {
    merge_id: idOf('merge', no),
    kept_entity_id: idOf('entity', kept),
    kept_form: canonicalForm(into),
    merged_entity_id: idOf('entity', merged),
    merged_form: canonicalForm(from),
    type: into.type,
    merged_at: isoOf(merged_at),
    undone_at: undone_at === null ? null : isoOf(undone_at),
  };
}

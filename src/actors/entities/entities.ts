/** Entities: answers queries, merges and splits by hand, queues older pages for reading, compares names when idle. */
import { canonicalForm, mentionsOf, pageCountOf, pagesOfTree, rootOf, treeOf } from '../../commands/entity-trees.ts';
import { queueMatching } from '../../commands/match-entities.ts';
import { mergeEntities, rejectMerge, splitMerge } from '../../commands/merge-entities.ts';
import { sweepPages } from '../../commands/page-entities.ts';
import type {
  Entity,
  EntityDetailResponse,
  EntityMerge,
  EntityMergeListQuery,
  EntityMergeListResponse,
  EntityMergeResponse,
  EntitySummary,
  UndoMergeResponse,
} from '../../domain/entity.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import type { MessageName } from '../../domain/messages.ts';
import { idOf, isoOf, numberOf } from '../../domain/values.ts';
import type { StoreReader } from '../../store/store.ts';
import { Background } from '../system/background.ts';
import type { Handlers, LibraryParts, StartService } from '../system/service.ts';
import { entityIdf, listEntities, requireEntity } from './find-entities.ts';
import { type SuggestionThresholds, suggestMerges } from './suggest-merges.ts';

interface EntitiesDependencies extends Pick<LibraryParts, 'reader' | 'commit' | 'maxAttempts' | 'log' | 'now'> {
  /** Whether pages are read for entities. Known entities are served in any case. */
  enabled: boolean;
  /** Min similarity of names that are suggested for a merge. */
  thresholds: SuggestionThresholds;
}

type EntityMessages = Extract<MessageName, `entity.${string}`> | 'page.entities';

/** Pages examined in one transaction of the sweep: some ms. */
const sweptAtOnce = 100;
/** How often to check whether the service is idle, ms. */
const idleMs = 30_000;
/** Pause after a comparison, ms per name. Comparing a name takes some 4 µs of the main thread. */
const restPerNameMs = 1;
const maxMerges = 1000;

export function entitiesService({
  reader,
  commit,
  maxAttempts,
  enabled,
  thresholds,
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
    if (a.no === b.no) throw new DomainError('conflict', 'these entities are merged already');
    if (a.type !== b.type)
      throw new DomainError(
        'conflict',
        `one is of type ${a.type}, the other of type ${b.type}: only names of one type are merged`,
      );
    const merged = await commit(mergeEntities(a.no, b.no, now()));
    const shown = merged === null ? null : presentMerge(reader, merged);
    if (shown === null)
      throw new DomainError('conflict', 'a merge of these, or of names in them, was undone: they stay apart');
    return shown;
  };

  const reject = async (ref: string, other: string): Promise<EntityMergeResponse> => {
    const [a, b] = [requireEntity(entities, ref), requireEntity(entities, other)];
    const rejected = await commit(rejectMerge(a.no, b.no, now()));
    const shown = rejected === null ? null : presentMerge(reader, rejected);
    if (shown === null) throw new DomainError('conflict', 'these entities are merged already, or have different types');
    return shown;
  };

  const split = async (merge_id: string, which: { latestOnly: boolean }): Promise<UndoMergeResponse> => {
    const no = numberOf('merge', merge_id);
    const split = no === null ? ({ outcome: 'unknown' } as const) : await commit(splitMerge(no, now(), which));
    switch (split.outcome) {
      case 'split':
        return { restored_entity_id: idOf('entity', split.restored) };
      case 'unknown':
        throw unknownId('merge', merge_id);
      case 'undone_before':
        throw new DomainError('conflict', `the merge ${merge_id} is already undone`);
      case 'not_latest': {
        const latest = idOf('merge', split.latest);
        throw new DomainError('conflict', `only the latest merge can be undone: ${latest}`);
      }
    }
  };

  const listMerges = ({ entity }: EntityMergeListQuery): EntityMergeListResponse => {
    const merges = entity === undefined ? entities.merges(maxMerges) : mergesBehind(requireEntity(entities, entity));
    return { merges: merges.flatMap((merge) => presentMerge(reader, merge) ?? []) };
  };

  /** Merges into this name, newest first. */
  const mergesBehind = (root: Entity): EntityMerge[] => {
    const numbers = new Set(treeOf(entities, root).flatMap(({ no }) => entities.mergesOfEntity(no)));
    const newest = [...numbers].sort((a, b) => b - a).slice(0, maxMerges);
    return newest.flatMap((no) => entities.merge(no) ?? []);
  };

  const handlers: Handlers<EntityMessages> = {
    'entity.list': async (query, signal) => {
      const { roots, next_cursor } = await listEntities(entities, query, signal);
      return { entities: roots.map(summaryOf), next_cursor };
    },
    'entity.get': ({ ref }) => detailOf(requireEntity(entities, ref)),
    'entity.merge': ({ ref, with: other }) => merge(ref, other),
    'entity.suggestions': async ({ limit }, signal) => ({
      suggestions: await suggestMerges(entities, thresholds, limit, signal),
    }),
    'entity.reject': ({ ref, with: other }) => reject(ref, other),
    'entity.undoMerge': ({ merge_id }) => split(merge_id, { latestOnly: true }),
    'entity.splitMerge': ({ merge_id }) => split(merge_id, { latestOnly: false }),
    'entity.merges': listMerges,
    'page.entities': ({ page_id }) => {
      const no = reader.pages.numberOfId(page_id);
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
    const background = new Background(log);
    const stop = () => background.stop();
    if (!enabled) return { handlers, stop };
    const sweep = async () => (await commit(sweepPages(sweptAtOnce, policy()))) || null;
    background.soon('reading earlier pages for names failed: it continues at the next start', () =>
      background.slices(true, sweep),
    );
    const queueIfDue = async () => {
      if (entities.state('unmatched') === 0 || reader.jobs.nextDueAt('entities') !== undefined) return;
      const compared = reader.jobs.get(entities.state('matching_job'))?.updated_at ?? 0;
      if (now() < compared + entities.count() * restPerNameMs) return;
      await commit(queueMatching(policy()));
    };
    background.every(idleMs, 'the comparison of names could not be queued', queueIfDue);
    return { handlers, stop };
  };
}

function presentMerge(
  { entities }: StoreReader,
  { no, kept, merged, merged_at, undone_at, made_by }: EntityMerge,
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
    made_by: made_by ?? null,
  };
}

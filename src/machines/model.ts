/**
 * The model machine: it follows a model's backfill. A ready model stays ready while a later backfill fills gaps. The
 * active model is a pointer next to the rows, moved in one transaction, so a search that reads it once uses one model.
 *
 * registered   without vectors; nothing is embedded for it
 * backfilling  its backfill runs; newly indexed pages are embedded for it
 * ready        every page has its vectors, or a gap that a backfill will fill: searchable
 * failed       its backfill's job is dead; a new backfill resumes
 */
import { assign, setup } from 'xstate';
import type { Backfill, EmbeddingModel } from '../domain/model.ts';
import { type NextRow, nextRowBy } from './next-row.ts';

export type ModelEvent =
  | { type: `backfill.${Backfill['status']}` }
  /** Accepted if the pointer may move to this model. */
  | { type: 'activate' };

const modelMachine = setup({
  types: { context: {} as EmbeddingModel, events: {} as ModelEvent, input: {} as EmbeddingModel },
  actions: {
    /** No change to the row: the command moves the pointer. */
    takePointer: assign(() => ({})),
  },
}).createMachine({
  id: 'model',
  context: ({ input }) => input,
  initial: 'registered',
  states: {
    registered: { on: { 'backfill.running': 'backfilling' } },
    backfilling: { on: { 'backfill.complete': 'ready', 'backfill.failed': 'failed' } },
    ready: { on: { activate: { actions: 'takePointer' } } },
    failed: { on: { 'backfill.running': 'backfilling' } },
  },
});

export const nextModel: NextRow<EmbeddingModel, ModelEvent> = nextRowBy(modelMachine, 'status');

/** A model in a new, empty space: `ready` if there are no pages. */
export function newModel(
  model: Omit<EmbeddingModel, 'space' | 'status'>,
  space: number,
  status: 'registered' | 'ready' = 'registered',
): EmbeddingModel {
  return { ...model, space, status };
}

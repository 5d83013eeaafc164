/**
 * The model machine: what may be done with a registered embedding model. It follows the model's backfill: its events are the statuses that
 * this comes to. A ready model stays ready while a later one fills gaps. Which model is active is a pointer beside the rows, moved
 * in one transaction, so that a search which reads it once works with one model. Pure, like the job machine.
 *
 * registered   known, without vectors; nothing is embedded for it
 * backfilling  its backfill runs; every page that is indexed from now on is embedded for it
 * ready        every page has its vectors, or a gap that a backfill is going to fill: may be searched and activated
 * failed       its backfill's job is dead; a new backfill goes on where that one stopped
 */
import { assign, setup } from 'xstate';
import type { Backfill, EmbeddingModel } from '../domain/model.ts';
import { type NextRow, nextRowBy } from './next-row.ts';

export type ModelEvent =
  | { type: `backfill.${Backfill['status']}` }
  /** Asked before the pointer is moved to it. */
  | { type: 'activate' };

export const modelMachine = setup({
  types: { context: {} as EmbeddingModel, events: {} as ModelEvent, input: {} as EmbeddingModel },
  actions: {
    /** The pointer is the command's. */
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

/** The row after an event, or null where the model's state does not accept it. */
export const nextModel: NextRow<EmbeddingModel, ModelEvent> = nextRowBy(modelMachine, 'status');

/** The row of a model in a space of its own, empty so far: `ready` where there is no page whose vectors it could lack. */
export function newModel(
  model: Omit<EmbeddingModel, 'space' | 'status'>,
  space: number,
  status: 'registered' | 'ready' = 'registered',
): EmbeddingModel {
  return { ...model, space, status };
}

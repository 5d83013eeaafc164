/**
 * The next version of a row by its machine, whose states are the row's `status` and whose context is the row. Pure: for machines
 * of guards and `assign` actions, which spawn and send nothing.
 *
 * XState's own `transition` makes an actor for each call and finds the state in the chart each time. To index a page takes five
 * calls, and they were a fifth of the garbage that it left on the main thread. Here both are made once for a machine.
 */
import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
} from 'xstate';

/** The row after an event, or null where the row's state does not accept it. */
export type NextRow<Row, Event> = (row: Row, event: Event) => Row | null;

export function nextRowBy<Row extends { status: string }, Event extends EventObject>(
  machine: AnyStateMachine,
): NextRow<Row, Event> {
  const self = createActor(machine, { input: {} });
  /** Of an actor that never starts: nothing comes of what is done in it but the snapshot. */
  const inert: AnyActorScope = {
    self,
    id: '',
    sessionId: '',
    system: self.system,
    logger: () => {},
    defer: () => {},
    emit: () => {},
    stopChild: () => {},
    actionExecutor: () => {},
  };
  /** By status, with no row in it. */
  const states = new Map<string, AnyMachineSnapshot>();
  return (row, event) => {
    const state = states.get(row.status) ?? machine.resolveState({ value: row.status, context: {} });
    states.set(row.status, state);
    const before = { ...state, context: row };
    const after = machine.transition(before, event, inert);
    return after === before ? null : { ...after.context, status: after.value };
  };
}

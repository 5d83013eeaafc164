/**
 * The next version of a row by its machine, whose states are what a field of the row says and whose context is the row. Pure: for
 * machines of guards and `assign` actions, which spawn and send nothing.
 *
 * XState's `transition` makes an actor for each call. Here a machine has one for all calls: the machine's own `transition` gets its scope,
 * and each state is looked up in the chart once. A page makes six calls until it is indexed, which is 2,100 a second at 350 pages: 2 % of
 * a core, with 9 kB of garbage a call. With XState's `transition` it is 4 to 5 %, and 34 kB (`npm run bench:transitions`).
 */
import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  fromTransition,
} from 'xstate';

/** The row after an event, or null where the row's state does not accept it. */
export type NextRow<Row, Event> = (row: Row, event: Event) => Row | null;

/** The parameters of an action or guard that are the event itself: typed as the one that the transition is for. */
export const theEvent = <Event>({ event }: { event: Event }): Event => event;

/** `field`: where the row has its state. */
export function nextRowBy<Row, Event extends EventObject>(
  machine: AnyStateMachine,
  field: keyof Row,
): NextRow<Row, Event> {
  const scope = scopeOfIdleActor();
  /** By name, with no row in it. */
  const states = new Map<string, AnyMachineSnapshot>();
  return (row, event) => {
    const name = String(row[field]);
    const state = states.get(name) ?? machine.resolveState({ value: name, context: {} });
    states.set(name, state);
    const before = { ...state, context: row };
    const after = machine.transition(before, event, scope);
    return after === before ? null : { ...after.context, [field]: after.value };
  };
}

/** XState hands an actor's scope to its logic alone: this logic does nothing with it but hand it on. */
function scopeOfIdleActor(): AnyActorScope {
  const given: AnyActorScope[] = [];
  const logic = fromTransition((state: null, _, scope) => {
    given.push(scope);
    return state;
  }, null);
  createActor(logic).start().send({ type: 'tell' });
  return given[0];
}

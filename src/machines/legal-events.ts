/** Which events a stored row's state accepts, for people who look at it: event, guard and next state, as the machine has them. */
import type { AnyStateMachine } from 'xstate';

export interface LegalEvent {
  event: string;
  /** Name of the condition, null for none. */
  only_if: string | null;
  /** Null: the state stays. */
  next: string | null;
}

export function legalEvents(machine: AnyStateMachine, status: string): LegalEvent[] {
  const node = machine.states[status];
  if (node === undefined) return [];
  return [...node.transitions.entries()].flatMap(([event, transitions]) =>
    transitions.map(({ guard, target }) => ({
      event,
      only_if:
        guard === undefined ? null : typeof guard === 'string' ? guard : 'type' in guard ? guard.type : guard.name,
      next: target?.[0]?.key ?? null,
    })),
  );
}

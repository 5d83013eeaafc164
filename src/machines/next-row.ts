/** The next version of a row by its table of transitions: a field of the row is the state. Pure. */

export type NextRow<Row, Event> = (row: Row, event: Event) => Row | null;

/** By state and type of event: the next row, or null where a condition is not met. Events without an entry are refused. */
export type Transitions<State extends string, Row, Event extends { type: string }> = Readonly<
  Record<State, { readonly [Type in Event['type']]?: (row: Row, event: Extract<Event, { type: Type }>) => Row | null }>
>;

type Moves<Row> = Readonly<Record<string, ((row: Row, event: never) => Row | null) | undefined>>;

/** `field`: the row's state. */
export function nextRowBy<Row, Event extends { type: string }>(
  transitions: Readonly<Record<string, Moves<Row>>>,
  field: keyof Row,
): NextRow<Row, Event> {
  return (row, event) => transitions[String(row[field])]?.[event.type]?.(row, event as never) ?? null;
}

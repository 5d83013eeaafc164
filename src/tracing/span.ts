/**
 * Where parts of the system say what they do and how long it takes. Nobody listens unless traces are on (src/telemetry/
 * open-telemetry.ts); then each piece of work is run by the listener, inside its span. With nobody listening it costs one look.
 * Names and attributes never hold texts, addresses or secrets: only names of routes, messages, tasks, providers, and ids.
 */
import { AsyncResource } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';

export type Attributes = Record<string, string | number>;

export interface SpanRequest {
  name: string;
  attributes: Attributes;
  /** A piece of work whose span is the parent wherever this one runs: that in which `remember` was called with the key. */
  parentKey: string | undefined;
  run: () => Promise<unknown>;
  /** Set by the listener, which has run it. */
  result: Promise<unknown> | undefined;
}

export interface Remembered {
  key: string;
}

export const spans = channel('readback.span');
export const remembered = channel('readback.span.remember');

/** Run a piece of work, in a span of its own where somebody listens. */
export function traced<Result>(
  name: string,
  attributes: Attributes,
  run: () => Promise<Result>,
  parentKey?: string,
): Promise<Result> {
  if (!spans.hasSubscribers) return run();
  const request: SpanRequest = { name, attributes, parentKey, run, result: undefined };
  spans.publish(request);
  return (request.result as Promise<Result> | undefined) ?? run();
}

/** Make the present span the parent of later work under this key, in whatever context that runs. */
export function remember(key: string): void {
  if (remembered.hasSubscribers) remembered.publish({ key } satisfies Remembered);
}

export const isTraced = (): boolean => spans.hasSubscribers;

type Within = <Result>(work: () => Result) => Result;
const here: Within = (work) => work();

/** Runs work in the context of this call, for what comes back through an actor's mailbox. */
export function presentContext(): Within {
  return spans.hasSubscribers ? AsyncResource.bind(here) : here;
}

/** Of no span: this module is loaded before any begins. */
const noContext: Within = AsyncResource.bind(here);

/**
 * Runs work in no trace: what a request merely sets off, and what goes on for its own sake after it. A timer keeps the context in
 * which it was set, so one that sets itself again would never leave the trace.
 */
export const outsideTraces: Within = (work) => (spans.hasSubscribers ? noContext(work) : work());

/**
 * Marks pieces of work for traces. Without traces (src/telemetry/open-telemetry.ts) it costs one check; with them the listener runs the
 * work inside its span. Names and attributes contain only names of routes, messages, tasks, providers, and ids.
 */
import { AsyncResource } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';

export type Attributes = Record<string, string | number>;

export interface SpanRequest {
  name: string;
  attributes: Attributes;
  /** The key given to `remember` in the parent span. */
  parentKey: string | undefined;
  run: () => Promise<unknown>;
  /** Set by the listener that ran it. */
  result: Promise<unknown> | undefined;
}

export interface Remembered {
  key: string;
}

export const spans = channel('readback.span');
export const remembered = channel('readback.span.remember');

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

/** Make the current span the parent of later work under this key. */
export function remember(key: string): void {
  if (remembered.hasSubscribers) remembered.publish({ key } satisfies Remembered);
}

export const isTraced = (): boolean => spans.hasSubscribers;

type Within = <Result>(work: () => Result) => Result;
const here: Within = (work) => work();

/** Runs work in this call's context, for replies through an actor's mailbox. */
export function presentContext(): Within {
  return spans.hasSubscribers ? AsyncResource.bind(here) : here;
}

/** This module is loaded before any span begins. */
const noContext: Within = AsyncResource.bind(here);

/** Runs work outside traces: background work started by a request. A timer keeps its context, so a repeating one would never leave the trace. */
export const outsideTraces: Within = (work) => (spans.hasSubscribers ? noContext(work) : work());

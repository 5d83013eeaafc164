/** Marks work for traces; without tracing it costs one check. Attributes are names and ids, never content. */
import { AsyncResource } from 'node:async_hooks';

export type Attributes = Record<string, string | number>;

export interface Tracer {
  /** `parentKey`: the key given to `remember` in the parent span. */
  run<Result>(
    name: string,
    attributes: Attributes,
    run: () => Promise<Result>,
    parentKey: string | undefined,
  ): Promise<Result>;
  /** Make the current span the parent of later work under this key. */
  remember(key: string): void;
}

let tracer: Tracer | null = null;

export function setTracer(used: Tracer | null): void {
  tracer = used;
}

export function traced<Result>(
  name: string,
  attributes: Attributes,
  run: () => Promise<Result>,
  parentKey?: string,
): Promise<Result> {
  return tracer === null ? run() : tracer.run(name, attributes, run, parentKey);
}

export const remember = (key: string): void => tracer?.remember(key);

export const isTraced = (): boolean => tracer !== null;

type Within = <Result>(work: () => Result) => Result;
const here: Within = (work) => work();

/** Returns a function that runs work in the context of this call, for replies through an actor's mailbox. */
export function presentContext(): Within {
  return isTraced() ? AsyncResource.bind(here) : here;
}

/** Correct because this module is loaded before any span begins. */
const noContext: Within = AsyncResource.bind(here);

/** Runs background work outside the trace of a request, because a repeating timer would never leave it. */
export const outsideTraces: Within = (work) => (isTraced() ? noContext(work) : work());

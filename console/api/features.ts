/** What this service offers, by its own OpenAPI document: so that nothing has to be tried and fail. */
import { signal } from '@preact/signals';
import { get, isAbort } from './client.ts';

interface OpenApi {
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> };
}

const offered = signal<OpenApi | null>(null);
let asked: Promise<void> | null = null;

/** Ask once; until the answer is there nothing optional is offered. */
export function learnFeatures(): Promise<void> {
  asked ??= get<OpenApi>('/openapi.json').then(
    (document) => {
      offered.value = document;
    },
    (error) => {
      asked = null; // asked again with the next session
      if (!isAbort(error)) offered.value = null;
    },
  );
  return asked;
}

/** Whether a route is there: `hasRoute('POST /v1/imports')`. */
export function hasRoute(operation: string): boolean {
  const [method, path] = operation.split(' ');
  return offered.value?.paths[path]?.[method.toLowerCase()] !== undefined;
}

/** Whether a named body has a field. */
export const hasField = (schema: string, field: string): boolean =>
  offered.value?.components.schemas[schema]?.properties?.[field] !== undefined;

export const featuresKnown = (): boolean => offered.value !== null;

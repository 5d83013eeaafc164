/**
 * From environment variables to raw values: which variable stands for which setting, and its text read as the type that the
 * setting has. Bounds are not checked here. Variables that name no setting are ignored: src/settings/unknown-variables.ts tells of them.
 */
import { z } from 'zod';
import { provider } from './indexing-settings.ts';
import { coreOf } from './rule.ts';
import { settingsSchema } from './schema.ts';

/** One setting and where it comes from. */
export interface Variable {
  /** Where its value belongs: `['jobs', 'max_attempts']`. */
  path: readonly string[];
  /** `SERVICE_JOBS__MAX_ATTEMPTS`. */
  name: string;
  schema: z.ZodType;
}

export const variableName = (path: readonly string[]): string => `SERVICE_${path.join('__').toUpperCase()}`;

function fieldsOf(prefix: readonly string[], shape: Readonly<Record<string, unknown>>): Variable[] {
  return Object.entries(shape).flatMap(([key, schema]) => {
    const path = [...prefix, key];
    if (schema instanceof z.ZodObject) return fieldsOf(path, schema.shape);
    if (key === 'providers' || !(schema instanceof z.ZodType)) return [];
    return [{ path, name: variableName(path), schema }];
  });
}

/** Every setting with a fixed name, in the schema's order. */
export const fixedVariables: readonly Variable[] = fieldsOf([], settingsSchema.shape);

/** `providers.<name>.…` for the names that occur in the environment; names are lower-cased. */
function providerVariables(env: NodeJS.ProcessEnv): Variable[] {
  const names = new Set<string>();
  for (const key of Object.keys(env)) {
    const name = /^SERVICE_PROVIDERS__([A-Z0-9]+(?:[_-][A-Z0-9]+)*)__(?:BASE_URL|API_KEY)$/.exec(key)?.[1];
    if (name !== undefined) names.add(name.toLowerCase());
  }
  return [...names].sort().flatMap((name) => fieldsOf(['providers', name], provider.shape));
}

/** Every setting that this environment may set. */
export const variablesOf = (env: NodeJS.ProcessEnv): Variable[] => [...fixedVariables, ...providerVariables(env)];

/** Whether the environment says what a setting is. */
export const isGiven = (env: NodeJS.ProcessEnv, path: readonly string[]): boolean =>
  (env[variableName(path)]?.trim() ?? '') !== '';

const words = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the schema refuses the plain text and the message says what it should be.
    return text;
  }
}

/** The value that a variable's text stands for, or the text itself where it reads as nothing of the setting's type. */
export function readText(schema: z.ZodType, text: string): unknown {
  const core = coreOf(schema);
  if (core instanceof z.ZodNumber) return decimal.test(text) ? Number(text) : text;
  if (core instanceof z.ZodBoolean) return words.get(text.toLowerCase()) ?? text;
  if (core instanceof z.ZodArray || core instanceof z.ZodRecord) return parseJson(text);
  return text;
}

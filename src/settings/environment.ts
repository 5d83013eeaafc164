/**
 * Maps environment variables to settings and parses their text by type. Bounds are checked elsewhere.
 * src/settings/unknown-variables.ts reports unknown variables.
 */
import { z } from 'zod';
import { coreOf, provider, settingsSchema } from './schema.ts';

export interface Variable {
  /** `['jobs', 'max_attempts']`. */
  path: readonly string[];
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

export const fixedVariables: readonly Variable[] = fieldsOf([], settingsSchema.shape);

/** `providers.<name>.…` for the names in the environment, in lower case. */
function providerVariables(env: NodeJS.ProcessEnv): Variable[] {
  const names = new Set<string>();
  for (const key of Object.keys(env)) {
    const name = /^SERVICE_PROVIDERS__([A-Z0-9]+(?:[_-][A-Z0-9]+)*)__(?:BASE_URL|API_KEY)$/.exec(key)?.[1];
    if (name !== undefined) names.add(name.toLowerCase());
  }
  return [...names].sort().flatMap((name) => fieldsOf(['providers', name], provider.shape));
}

export const variablesOf = (env: NodeJS.ProcessEnv): Variable[] => [...fixedVariables, ...providerVariables(env)];

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
    // Not JSON: the schema refuses the text and explains the type.
    return text;
  }
}

/** The parsed value, or the text if it cannot be parsed. */
export function readText(schema: z.ZodType, text: string): unknown {
  const core = coreOf(schema);
  if (core instanceof z.ZodNumber) return decimal.test(text) ? Number(text) : text;
  if (core instanceof z.ZodBoolean) return words.get(text.toLowerCase()) ?? text;
  if (core instanceof z.ZodArray || core instanceof z.ZodRecord) return parseJson(text);
  return text;
}

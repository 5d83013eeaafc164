/** Reads the environment (nothing else does) into typed settings and secrets. Reports all faults at once. */
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { presetKeepParams } from '../compute/web/canonical-url.ts';
import { defaultLibrary } from '../domain/access.ts';
import { builtInModel, localProvider } from '../domain/model.ts';
import { usualAddressOf } from '../domain/usual-address.ts';
import { coreOf, type DeclaredSettings, metaOf, provider, ruleOf, settingsSchema } from './schema.ts';
import { separateSecrets } from './secrets.ts';

export type Settings = ReturnType<typeof separateSecrets>;

export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

const shownLength = 80;

/** A value for messages: on one line, shortened, without secrets and address parts that may be secret. */
function shown(variable: Variable, text: string): string {
  if (metaOf(variable.schema).secret === true) return '(hidden)';
  const [before, ...parameters] = text.split('?');
  // A password may contain a question mark, and a parameter may contain an `@`.
  if (parameters.some((each) => each.includes('@'))) return '(hidden)';
  const open = before.replace(/^.*@/s, '(hidden)@') + (parameters.length > 0 ? '?(hidden)' : '');
  return JSON.stringify(open.length > shownLength ? `${open.slice(0, shownLength)}…` : open);
}

type Raw = { [key: string]: unknown };

function setAt(raw: Raw, path: readonly string[], value: unknown): void {
  const [head, ...rest] = path;
  if (head === undefined) return;
  if (rest.length === 0) raw[head] = value;
  else {
    const inner: Raw = Object.hasOwn(raw, head) ? { ...(raw[head] as Raw) } : {};
    setAt(inner, rest, value);
    raw[head] = inner;
  }
}

/** By the XDG Base Directory Specification, which ignores relative values. */
function defaultFolder({ XDG_DATA_HOME: set, HOME }: NodeJS.ProcessEnv): string {
  const base = set !== undefined && isAbsolute(set) ? set : join(HOME || homedir(), '.local/share');
  return join(base, 'readback');
}

function completed(env: NodeJS.ProcessEnv, declared: DeclaredSettings): DeclaredSettings {
  return {
    ...declared,
    data_dir: declared.data_dir === '' ? defaultFolder(env) : resolve(declared.data_dir),
    libraries: { dir: declared.libraries.dir === null ? null : resolve(declared.libraries.dir) },
    program_path: declared.program_path || (env.PATH ?? ''),
    canonicalize: {
      ...declared.canonicalize,
      keep_params: {
        ...presetKeepParamsWithout(Object.keys(declared.canonicalize.keep_params)),
        ...declared.canonicalize.keep_params,
      },
    },
  };
}

/** The preset without entries of these places and of paths below them. */
function presetKeepParamsWithout(places: readonly string[]): Record<string, string[]> {
  const isReplaced = (preset: string) => places.some((place) => preset === place || preset.startsWith(`${place}/`));
  return Object.fromEntries(
    Object.entries(presetKeepParams).flatMap(([place, kept]) => (isReplaced(place) ? [] : [[place, [...kept]]])),
  );
}

interface Conflict {
  about: string[];
  problem: string;
}

function crossChecks(settings: DeclaredSettings): Conflict[] {
  const conflicts: Conflict[] = [];
  const refuse = (about: string[], problem: string) => conflicts.push({ about, problem });
  const { database_url } = settings.cluster;
  const { auth_token, auth_tokens, chunking, data_dir, embedder, libraries, reranker, providers, tls } = settings;
  const checkReachable = (group: 'embedder' | 'reranker', purpose: string): void => {
    const { base_url, provider } = settings[group];
    const shared = provider !== null && Object.hasOwn(providers, provider) ? providers[provider].base_url : null;
    const usual = provider !== null && group === 'embedder' ? usualAddressOf(provider) : null;
    if ((base_url ?? shared ?? usual) !== null) return;
    const about = [variableName([group, 'base_url']), variableName(['providers', provider ?? '<name>', 'base_url'])];
    refuse(about, `${about[0]}: must be set, or ${about[1]}, for ${purpose}`);
  };

  if (chunking.target_tokens > chunking.hard_max_tokens) {
    const [target, max] = [variableName(['chunking', 'target_tokens']), variableName(['chunking', 'hard_max_tokens'])];
    const problem = `must not be above ${max}, which is ${chunking.hard_max_tokens}`;
    refuse([target, max], `${target}=${chunking.target_tokens}: ${problem}`);
  }
  if (embedder.provider === localProvider && embedder.model !== builtInModel.model_name) {
    const model = variableName(['embedder', 'model']);
    const otherwise = `the only built-in model; or set ${variableName(['embedder', 'provider'])}`;
    refuse([model], `${model}=${embedder.model}: must be ${builtInModel.model_name}, ${otherwise}`);
  }
  if (![localProvider, 'none'].includes(embedder.provider)) checkReachable('embedder', 'an embedder that is not local');
  const [tokens, dir] = [variableName(['auth_tokens']), variableName(['libraries', 'dir'])];
  const elsewhere = auth_tokens.find(({ library }) => library !== defaultLibrary);
  if (libraries.dir !== null && auth_token === null && auth_tokens.length === 0)
    refuse([tokens, dir], `${dir}=${libraries.dir}: needs ${tokens}, which name the libraries`);
  const doubled = auth_tokens.find(({ token, library }) =>
    [...(auth_token === null ? [] : [{ token: auth_token, library: defaultLibrary }]), ...auth_tokens].some(
      (other) => other.token === token && other.library !== library,
    ),
  );
  if (doubled !== undefined) {
    const { name, library } = doubled;
    refuse([tokens], `${tokens}: the token ${name} of the library ${library} also belongs to another library`);
  }
  if (libraries.dir !== null && [data_dir, dirname(data_dir)].includes(libraries.dir)) {
    const data = variableName(['data_dir']);
    refuse([data, dir], `${data}=${data_dir}: must not be ${dir}, nor a folder in it, which is a library's`);
  }
  if (libraries.dir === null && database_url === null && elsewhere !== undefined) {
    const { name, library } = elsewhere;
    refuse([tokens, dir], `${tokens}: the token ${name} belongs to the library ${library}: set ${dir}, or name none`);
  }
  if (database_url !== null && libraries.dir !== null) {
    const database = variableName(['cluster', 'database_url']);
    refuse([dir], `${dir}=${libraries.dir}: must not be set where ${database} is, which names the libraries`);
  }
  if ((tls.cert_file === null) !== (tls.key_file === null)) {
    const [cert, key] = [variableName(['tls', 'cert_file']), variableName(['tls', 'key_file'])];
    refuse([cert, key], `${cert}: must be set together with ${key}`);
  }
  if (reranker.kind === 'api') checkReachable('reranker', 'reranker.kind api');
  return conflicts;
}

function rawOf(env: NodeJS.ProcessEnv, variables: readonly Variable[]): Raw {
  const groups = Object.entries(settingsSchema.shape).flatMap(([key, schema]) =>
    schema instanceof z.ZodObject || schema instanceof z.ZodRecord ? [[key, {}]] : [],
  );
  const raw: Raw = Object.fromEntries(groups);
  for (const { path, name, schema } of variables) {
    const text = env[name]?.trim();
    if (text !== undefined && text !== '') setAt(raw, path, readText(schema, text));
  }
  return raw;
}

/**
 * Errors: SettingsError with every fault: variable, value (secrets hidden) and rule, one line each.
 * Source: contract "Settings that bound behaviour"; design "More settings".
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const variables = variablesOf(env);
  const parsed = settingsSchema.safeParse(rawOf(env, variables), { reportInput: true });
  const faulty = variables.filter(({ path }) =>
    parsed.error?.issues.some((issue) => path.every((key, at) => issue.path[at] === key)),
  );
  const others = variables.filter((each) => !faulty.includes(each));
  const settings = completed(env, parsed.data ?? settingsSchema.parse(rawOf(env, others)));
  const problems = [
    ...faulty.map((each) => {
      const rule = `${each.name}=${shown(each, env[each.name] ?? '')}: must be ${ruleOf(each.schema)}`;
      return [rule, ...innerFaults(each.path, parsed.error?.issues ?? [])].join('; ');
    }),
    ...crossChecks(settings)
      .filter(({ about }) => !faulty.some(({ name }) => about.includes(name)))
      .map(({ problem }) => problem),
  ];
  if (problems.length > 0) throw new SettingsError(problems);
  return separateSecrets(settings);
}

/** Max faults inside a list setting: place and kind only, because values and unknown names may be secret. */
const maxFaults = 10;

function placeOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.join('');
}

function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'has an unknown field';
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : 'is of another type';
    case 'invalid_value':
      return 'is not one of the allowed values';
    case 'too_small':
      return issue.origin === 'array' || issue.origin === 'string' ? 'is empty' : 'is too small';
    default:
      return 'is not valid';
  }
}

/** Faults below the setting at `path`, entries counted from 0; none if the whole setting has the wrong type. */
function innerFaults(path: readonly string[], issues: readonly z.core.$ZodIssue[]): string[] {
  return issues
    .filter((issue) => typeof issue.path[path.length] === 'number' && path.every((key, at) => issue.path[at] === key))
    .slice(0, maxFaults)
    .map((issue) => `${placeOf(issue.path.slice(path.length))} ${wordsOf(issue)}`);
}

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
    // Not JSON: the schema will refuse the text and explain the type.
    return text;
  }
}

function readText(schema: z.ZodType, text: string): unknown {
  const core = coreOf(schema);
  if (core instanceof z.ZodNumber) return decimal.test(text) ? Number(text) : text;
  if (core instanceof z.ZodBoolean) return words.get(text.toLowerCase()) ?? text;
  if (core instanceof z.ZodArray || core instanceof z.ZodRecord) return parseJson(text);
  return text;
}

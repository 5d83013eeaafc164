/**
 * Where a model comes from: whether its provider is there, as the service's settings say, and what has to be done first. Asks the provider
 * itself where that costs nothing, and has Ollama pull a model. Changes nothing of the service.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parsedJson } from '../compute/structures/json-fields.ts';
import { errorMessage } from '../domain/error-message.ts';
import type { KnownModel } from '../domain/known-models.ts';
import { localProvider } from '../domain/model.ts';
import { usualAddressOf } from '../providers/provider-settings.ts';
import { transformersPackage, transformersProvider } from '../providers/transformers.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { bytesText, plain } from './terminal.ts';

export type ModelSource =
  /** There, or nothing that could be looked at from here. */
  | { state: 'there'; detail: string }
  /** It can be had; `fetch` brings it, null where the service does so itself when it is first used. */
  | { state: 'fetchable'; detail: string; fetch: PullModel | null }
  /** `next`: what to do, a command where there is one. */
  | { state: 'missing'; detail: string; next: string };

/** Told how far it is, bytes. Errors: CliError. */
export type PullModel = (progress: (done: number, whole: number) => void, signal: AbortSignal) => Promise<void>;

interface Address {
  base_url: string | null;
  api_key: string | null;
}

/** As much of `GET /v1/admin/config` as is looked at. */
export interface ShownProviders {
  cache_dir: string;
  embedder: Address & { provider: string };
  reranker: Address & { kind: string; provider: string | null; model: string | null };
  providers: Record<string, Address>;
}

export interface WantedModel {
  provider: string;
  model_name: string;
  /** Null where its maker does not say. */
  parameters_millions: number | null;
  does: KnownModel['does'];
}

const ollama = 'ollama';
const paid: readonly string[] = ['openai', 'voyage', 'cohere', 'jina'];
export const isPaid = (provider: string): boolean => paid.includes(provider);
/** A provider that is there says so at once, ms. */
const lookTimeoutMs = 5000;
/** Bytes of a parameter in what each provider has of a model; a reranker in the process is of a byte each (`reranker.dtype`). */
const bytesPerParameter = { [ollama]: 2, [transformersProvider]: 4 };
/** Of one line of Ollama's answers. */
const maxLine = 65_536;

/** `isHere`: the service runs on this machine, with these programs and folders. */
export async function findSource(
  wanted: WantedModel,
  settings: ShownProviders,
  { isHere, signal }: { isHere: boolean; signal: AbortSignal },
): Promise<ModelSource> {
  const { provider } = wanted;
  if (provider === localProvider) return { state: 'there', detail: 'built in' };
  if (provider === transformersProvider) return inProcess(wanted, settings, isHere);
  const address = addressOf(wanted, settings);
  const variable = `SERVICE_PROVIDERS__${provider.toUpperCase()}__`;
  if (isPaid(provider) && address.api_key === null)
    return missing(`no key for ${provider} is set`, `set ${variable}API_KEY for the service and start it again`);
  if (address.base_url === null)
    return missing(
      `the service does not know where ${provider} is`,
      `set ${variable}BASE_URL for the service and start it again`,
    );
  if (!isHere || isPaid(provider)) return { state: 'there', detail: `${provider} at ${address.base_url}` };
  return provider === ollama
    ? ofOllama(wanted, address.base_url, signal)
    : atServer(provider, address.base_url, signal);
}

function addressOf({ provider, does }: WantedModel, { embedder, reranker, providers }: ShownProviders): Address {
  const part = does === 'reranking' ? reranker : embedder;
  const own = part.provider === provider ? part : null;
  const shared = Object.hasOwn(providers, provider) ? providers[provider] : null;
  return {
    base_url: own?.base_url ?? shared?.base_url ?? usualAddressOf(provider),
    api_key: own?.api_key ?? shared?.api_key ?? null,
  };
}

function inProcess(wanted: WantedModel, { cache_dir }: ShownProviders, isHere: boolean): ModelSource {
  if (!isHere) return { state: 'there', detail: 'in the service' };
  try {
    createRequire(import.meta.url).resolve(transformersPackage);
  } catch {
    const install = `ONNXRUNTIME_NODE_INSTALL=skip npm install ${transformersPackage}`;
    return missing(`${transformersPackage} is not installed`, `${install}   # 470 MB, where readback is installed`);
  }
  const { model_name } = wanted;
  if (existsSync(model_name)) return { state: 'there', detail: `in the service, from ${model_name}` };
  const cached = join(cache_dir, 'transformers', model_name);
  if (existsSync(cached)) return { state: 'there', detail: `in the service, from ${cached}` };
  return {
    state: 'fetchable',
    detail: `in the service; ${sizeOf(wanted)} from huggingface.co to ${cache_dir}, when it is first used`,
    fetch: null,
  };
}

async function ofOllama(wanted: WantedModel, baseUrl: string, signal: AbortSignal): Promise<ModelSource> {
  const root = baseUrl.replace(/\/v1\/?$/, '');
  const { model_name } = wanted;
  let version: string;
  let models: readonly { name?: unknown }[];
  try {
    const look = async (path: string) => {
      const response = await fetch(root + path, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(lookTimeoutMs)]),
      });
      return (parsedJson(await response.text()) ?? {}) as Record<string, unknown>;
    };
    const [{ version: told }, { models: had }] = await Promise.all([look('/api/version'), look('/api/tags')]);
    version = typeof told === 'string' ? ` ${plain(told, 20)}` : '';
    models = Array.isArray(had) ? had : [];
  } catch {
    signal.throwIfAborted();
    return missing(`no Ollama answers at ${root}`, 'ollama serve   # https://ollama.com/download has it');
  }
  const where = `Ollama${version} at ${root}`;
  const called = model_name.includes(':') ? [model_name] : [model_name, `${model_name}:latest`];
  if (models.some(({ name }) => called.includes(String(name)))) return { state: 'there', detail: where };
  return {
    state: 'fetchable',
    detail: `${where}, which does not have ${model_name} yet: ${sizeOf(wanted)}`,
    fetch: (progress, until) => pull(root, model_name, progress, until),
  };
}

/** Whatever it answers, somebody is there. */
async function atServer(provider: string, baseUrl: string, signal: AbortSignal): Promise<ModelSource> {
  try {
    const response = await fetch(baseUrl, { signal: AbortSignal.any([signal, AbortSignal.timeout(lookTimeoutMs)]) });
    await response.body?.cancel();
    return { state: 'there', detail: `${provider} at ${baseUrl}` };
  } catch {
    signal.throwIfAborted();
    return missing(`nothing answers at ${baseUrl}`, `start ${provider} there, with this model`);
  }
}

/**
 * Have Ollama pull a model; what it has of one that was interrupted it keeps. Errors: CliError with what Ollama says.
 * Source: Ollama's API, "Pull a model": a line of JSON for each step, layers with `total` and `completed` bytes.
 */
async function pull(
  root: string,
  model: string,
  progress: Parameters<PullModel>[0],
  signal: AbortSignal,
): Promise<void> {
  const failed = (why: string) => new CliError(exitCodes.failed, `Ollama cannot pull ${model}: ${plain(why, 300)}`);
  const layers = new Map<string, { completed: number; total: number }>();
  let isDone = false;
  const read = (line: string) => {
    const told = (parsedJson(line) ?? {}) as Record<string, unknown>;
    if (typeof told.error === 'string') throw failed(told.error);
    if (told.status === 'success') isDone = true;
    if (typeof told.digest !== 'string' || typeof told.total !== 'number') return;
    layers.set(told.digest, { total: told.total, completed: Number(told.completed ?? 0) });
    const all = [...layers.values()];
    progress(
      all.reduce((sum, { completed }) => sum + completed, 0),
      all.reduce((sum, { total }) => sum + total, 0),
    );
  };
  try {
    const response = await fetch(`${root}/api/pull`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: true }),
      signal,
    });
    let rest = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLine) throw failed('it does not answer as Ollama does');
      for (const line of lines) read(line);
    }
    read(rest);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CliError) throw error;
    throw new CliError(exitCodes.failed, `Ollama stopped while it pulled ${model} (${errorMessage(error)})`, {
      cause: error,
    });
  }
  if (!isDone) throw failed('it ended without a word');
}

function sizeOf({ provider, parameters_millions, does }: WantedModel): string {
  if (parameters_millions === null) return 'nobody says how large it is';
  const bytes = does === 'reranking' ? 1 : (bytesPerParameter[provider as keyof typeof bytesPerParameter] ?? 4);
  return `about ${bytesText(parameters_millions * 1e6 * bytes)}`;
}

const missing = (detail: string, next: string): ModelSource => ({ state: 'missing', detail, next });

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
import { isPaid, makersAddressOf, ollamaProvider, usualAddressOf } from '../domain/usual-address.ts';
import { transformersPackage, transformersProvider } from '../providers/transformers.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { bytesText, plain } from './terminal.ts';

export type ModelSource =
  /** There, or nothing that could be looked at from here. */
  | { state: 'there'; detail: string }
  /** It can be had; `fetch` brings it, null where the service does so itself when it is first used. */
  | { state: 'fetchable'; detail: string; fetch: PullModel | null }
  | { state: 'missing'; lacks: readonly Lack[] };

export interface Lack {
  detail: string;
  /** What to do, a command where there is one. */
  next: string;
}

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

const tei = 'tei';
/** A provider that is there says so at once, ms. */
const lookTimeoutMs = 5000;
/** Bytes of a parameter in what each provider has of a model; a reranker in the process is of a byte each (`reranker.dtype`). */
const bytesPerParameter = { [ollamaProvider]: 2, [transformersProvider]: 4 };
/** Of one line of Ollama's answers. */
const maxLine = 65_536;

/** All that lacks, where something does. `isHere`: the service runs on this machine, with these programs and folders. */
export async function findSource(
  wanted: WantedModel,
  settings: ShownProviders,
  { isHere, signal }: { isHere: boolean; signal: AbortSignal },
): Promise<ModelSource> {
  const { provider } = wanted;
  if (provider === localProvider) return { state: 'there', detail: 'built in' };
  if (provider === transformersProvider) return inProcess(wanted, settings, isHere);
  const { base_url, api_key } = addressOf(wanted, settings);
  const toSet = (name: string) => `set ${name} for the service and start it again`;
  const shared = `SERVICE_PROVIDERS__${provider.toUpperCase()}__`;
  if (isPaid(provider) && (api_key === null || base_url === null))
    return missing(
      ...(api_key === null ? [{ detail: `no key for ${provider} is set`, next: toSet(`${shared}API_KEY`) }] : []),
      ...(base_url === null
        ? [{ detail: 'no address is set', next: toSet(`${shared}BASE_URL=${makersAddressOf(provider)}`) }]
        : []),
    );
  if (base_url === null) {
    // A server has one model: rerankers are beside those that embed.
    const variable = wanted.does === 'reranking' ? 'SERVICE_RERANKER__BASE_URL' : `${shared}BASE_URL`;
    const detail = `the service does not know where ${provider} is`;
    return missing(...(isHere ? serverOf(wanted) : []), { detail, next: toSet(`${variable}=${exampleAddress}`) });
  }
  if (!isHere || isPaid(provider)) return { state: 'there', detail: `${provider} at ${base_url}` };
  return provider === ollamaProvider ? ofOllama(wanted, base_url, signal) : atServer(wanted, base_url, signal);
}

/** As the command of `serverOf` has it. */
const exampleAddress = 'http://127.0.0.1:8080';

/** Text Embeddings Inference with this model; of another server nobody knows how it is started. Source: its README. */
function serverOf({ provider, model_name }: WantedModel): Lack[] {
  if (provider !== tei) return [];
  const run = 'docker run -p 8080:80 ghcr.io/huggingface/text-embeddings-inference:cpu-1.9';
  return [{ detail: `it has to run with ${model_name}`, next: `${run} --model-id ${model_name}` }];
}

function addressOf(
  { provider, does }: Pick<WantedModel, 'provider' | 'does'>,
  { embedder, reranker, providers }: ShownProviders,
): Address {
  const part = does === 'reranking' ? reranker : embedder;
  const own = part.provider === provider ? part : null;
  const shared = Object.hasOwn(providers, provider) ? providers[provider] : null;
  return {
    base_url: own?.base_url ?? shared?.base_url ?? usualAddressOf(provider),
    api_key: own?.api_key ?? shared?.api_key ?? null,
  };
}

/** Who takes money for what is sent there, or may: whoever has a key. Null for who does not. */
export function payeeOf(wanted: Pick<WantedModel, 'provider' | 'does'>, settings: ShownProviders): string | null {
  const { provider } = wanted;
  if (provider === localProvider || provider === transformersProvider) return null;
  return isPaid(provider) || addressOf(wanted, settings).api_key !== null ? provider : null;
}

function inProcess(wanted: WantedModel, { cache_dir }: ShownProviders, isHere: boolean): ModelSource {
  if (!isHere) return { state: 'there', detail: 'in the service' };
  const { model_name } = wanted;
  const folder = [model_name, join(cache_dir, 'transformers', model_name)].find((each) => existsSync(each));
  const fetched = `${sizeOf(wanted)} from huggingface.co to ${cache_dir}`;
  try {
    createRequire(import.meta.url).resolve(transformersPackage);
  } catch {
    const install = `ONNXRUNTIME_NODE_INSTALL=skip npm install ${transformersPackage}`;
    return missing(
      { detail: `${transformersPackage} is not installed`, next: `${install}   # 470 MB, where readback is installed` },
      ...(folder === undefined
        ? [{ detail: `no files of ${model_name}`, next: `the service fetches ${fetched}` }]
        : []),
    );
  }
  if (folder !== undefined) return { state: 'there', detail: `in the service, from ${folder}` };
  return { state: 'fetchable', detail: `in the service; ${fetched}, when it is first used`, fetch: null };
}

async function ofOllama(wanted: WantedModel, baseUrl: string, signal: AbortSignal): Promise<ModelSource> {
  const root = baseUrl.replace(/\/v1\/?$/, '');
  const { model_name } = wanted;
  let version: string;
  let models: readonly { name?: unknown }[];
  try {
    const [{ version: told }, { models: had }] = await Promise.all([
      look(`${root}/api/version`, signal),
      look(`${root}/api/tags`, signal),
    ]);
    version = typeof told === 'string' ? ` ${plain(told, 20)}` : '';
    models = Array.isArray(had) ? had : [];
  } catch (error) {
    signal.throwIfAborted();
    // It may want a key, which the service has and this command has not.
    if (error instanceof NotLetIn)
      return { state: 'there', detail: `what is at ${root}, which ${error.message} to a look` };
    return missing(
      { detail: `no Ollama answers at ${root}`, next: 'ollama serve   # https://ollama.com/download has it' },
      { detail: `it may lack ${model_name}: ${sizeOf(wanted)}`, next: `ollama pull ${model_name}` },
    );
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

/** Whatever it answers, somebody is there; Text Embeddings Inference tells which model it has. */
async function atServer(wanted: WantedModel, baseUrl: string, signal: AbortSignal): Promise<ModelSource> {
  const { provider, model_name } = wanted;
  let serves: unknown;
  try {
    serves = (await look(`${baseUrl.replace(/\/v1\/?$/, '')}/info`, signal)).model_id;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NotLetIn) return { state: 'there', detail: `${provider} at ${baseUrl}` };
    const [start = { next: `start ${provider} there, with ${model_name}` }] = serverOf(wanted);
    return missing({ detail: `nothing answers at ${baseUrl}`, next: start.next });
  }
  // A folder says nothing of what is in it.
  const isOther = typeof serves === 'string' && hubId.test(serves) && serves.toLowerCase() !== model_name.toLowerCase();
  if (!isOther || provider !== tei) return { state: 'there', detail: `${provider} at ${baseUrl}` };
  return missing({
    detail: `at ${baseUrl} is ${plain(serves as string, 100)}`,
    next: `${serverOf(wanted)[0].next}   # and set its address`,
  });
}

const hubId = /^[\w.-]+\/[\w.-]+$/;

/** Somebody is there who lets nobody look. */
class NotLetIn extends Error {}

/** What a server says of itself; nothing where that is no JSON. Errors: those of fetch; NotLetIn. */
async function look(url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(lookTimeoutMs)]) });
  if (response.status === 401 || response.status === 403) throw new NotLetIn(`answered ${response.status}`);
  const told = parsedJson(await response.text());
  return typeof told === 'object' && told !== null ? (told as Record<string, unknown>) : {};
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

const missing = (...lacks: Lack[]): ModelSource => ({ state: 'missing', lacks });

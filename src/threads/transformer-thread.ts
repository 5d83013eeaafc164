/**
 * Runs transformer models by the optional package @huggingface/transformers, from a folder or the hub, one task at a time, and keeps
 * loaded models. Vectors have unit length; tokenizers cut long texts. Of a long pair the passage's end is cut, and the query beyond half
 * of the room.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorMessage } from '../domain/error-message.ts';
import { threadData } from './thread-pool.ts';

export interface TransformerThreadData {
  /** Package name, or the URL of its main file. */
  module: string;
  /** Cache of files from the hub. */
  cacheDir: string;
}

export interface TransformerTexts {
  /** A model's folder in the hub's layout, or its id. */
  model: string;
  texts: readonly string[];
  /** The first token's vector, or the mean of all. */
  pooling: 'cls' | 'mean';
}

export interface TransformerPairs {
  /** A sequence classifier with one label. */
  model: string;
  /** Precision by the package's names; selects the weights' file. */
  dtype: string;
  query: string;
  passages: readonly string[];
}

/** The package is missing; the model is missing or invalid; the hub is unreachable. */
export interface TransformerProblem {
  problem: 'missing' | 'unloadable' | 'unreachable';
  message: string;
}

interface Transformers {
  env: { allowRemoteModels: boolean; cacheDir: string };
  pipeline(task: 'feature-extraction', model: string): Promise<Extractor>;
  AutoTokenizer: { from_pretrained(model: string): Promise<Tokenizer> };
  AutoModelForSequenceClassification: {
    from_pretrained(model: string, options: { dtype: string }): Promise<Classifier>;
  };
  Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => object;
}
type Extractor = (
  texts: readonly string[],
  options: { pooling: TransformerTexts['pooling']; normalize: boolean },
) => Promise<{ dims: readonly number[]; data: Float32Array }>;
interface Tokens {
  input_ids: number[];
  token_type_ids?: number[];
}
interface Tokenizer {
  (text: string, options: { text_pair?: string; add_special_tokens?: boolean; return_tensor: false }): Tokens;
  model_max_length?: number;
  pad_token_id?: number;
  all_special_ids?: number[];
}
type Classifier = (
  inputs: Record<string, object>,
) => Promise<{ logits?: { dims: readonly number[]; data: Float32Array } }>;
interface CrossEncoder {
  tokenizer: Tokenizer;
  classify: Classifier;
  Tensor: Transformers['Tensor'];
}

class LoadError extends Error {
  readonly problem: TransformerProblem['problem'];

  constructor(problem: TransformerProblem['problem'], cause: unknown) {
    super(errorMessage(cause), { cause });
    this.problem = problem;
  }
}

const data = threadData<TransformerThreadData>();
const extractors = new Map<string, Extractor>();
const crossEncoders = new Map<string, CrossEncoder>();

/** Shape: texts × dim. Errors: those of the model's run. */
export function embedTexts({
  model,
  texts,
  pooling,
}: TransformerTexts): Promise<{ dim: number; rows: Float32Array } | TransformerProblem> {
  return orProblem(async () => {
    const extract = await kept(extractors, model, () =>
      loaded(model, ({ pipeline }, place) => pipeline('feature-extraction', place)),
    );
    const { dims, data: rows } = await extract(texts, { pooling, normalize: true });
    return { dim: dims[dims.length - 1], rows: Float32Array.from(rows) };
  });
}

/** One logit per passage. Errors: those of the model's run. */
export function scorePairs({
  model,
  dtype,
  query,
  passages,
}: TransformerPairs): Promise<{ logits: Float32Array } | TransformerProblem> {
  return orProblem(async () => {
    const encoder = await kept(crossEncoders, `${dtype} ${model}`, () =>
      loaded(model, async ({ AutoTokenizer, AutoModelForSequenceClassification, Tensor }, place) => ({
        tokenizer: await AutoTokenizer.from_pretrained(place),
        classify: await AutoModelForSequenceClassification.from_pretrained(place, { dtype }),
        Tensor,
      })),
    );
    const { logits } = await encoder.classify(pairInputs(encoder, query, passages));
    if (logits === undefined || logits.dims.length !== 2 || logits.dims[1] !== 1)
      throw new LoadError('unloadable', new Error('it gives no single score to a pair, so it is no reranker'));
    return { logits: Float32Array.from(logits.data) };
  });
}

async function orProblem<Answer>(run: () => Promise<Answer>): Promise<Answer | TransformerProblem> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    return { problem: error.problem, message: error.message };
  }
}

async function kept<Model>(models: Map<string, Model>, key: string, load: () => Promise<Model>): Promise<Model> {
  const model = models.get(key) ?? (await load());
  models.set(key, model);
  return model;
}

/** Errors: LoadError. */
async function loaded<Model>(
  model: string,
  load: (library: Transformers, place: string) => Promise<Model>,
): Promise<Model> {
  const library = await loadPackage();
  const isFolder = existsSync(model);
  library.env.cacheDir = join(data.cacheDir, 'transformers');
  library.env.allowRemoteModels = !isFolder;
  try {
    return await load(library, isFolder ? resolve(model) : model);
  } catch (error) {
    const isNetwork = !isFolder && error instanceof TypeError && error.message === 'fetch failed';
    throw new LoadError(isNetwork ? 'unreachable' : 'unloadable', error);
  }
}

async function loadPackage(): Promise<Transformers> {
  try {
    return await import(data.module);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw new LoadError(code === 'ERR_MODULE_NOT_FOUND' ? 'missing' : 'unloadable', error);
  }
}

/** Default where the tokenizer does not say. */
const usualMaxTokens = 512;

/** The package cuts pairs at their end, including the closing token; so they are cut here. */
function pairInputs({ tokenizer, Tensor }: CrossEncoder, query: string, passages: readonly string[]) {
  const most = tokenizer.model_max_length ?? usualMaxTokens;
  const special = new Set(tokenizer.all_special_ids);
  const cut = cutToHalf(tokenizer, query, most);
  const pairs = passages.map((passage) => {
    const pair = tokenizer(cut, { text_pair: passage, return_tensor: false });
    const { length } = pair.input_ids;
    if (length <= most) return pair;
    let end = length;
    while (end > 0 && special.has(pair.input_ids[end - 1])) end--;
    const without = (row: number[]) => [...row.slice(0, most - (length - end)), ...row.slice(end)];
    const types = pair.token_type_ids === undefined ? {} : { token_type_ids: without(pair.token_type_ids) };
    return { input_ids: without(pair.input_ids), ...types };
  });
  const width = Math.max(...pairs.map(({ input_ids }) => input_ids.length));
  const tensor = (numberAt: (pair: Tokens, at: number) => number) =>
    new Tensor(
      'int64',
      BigInt64Array.from(pairs.flatMap((pair) => Array.from({ length: width }, (_, at) => BigInt(numberAt(pair, at))))),
      [pairs.length, width],
    );
  const pad = tokenizer.pad_token_id ?? 0;
  const isTyped = pairs.every(({ token_type_ids }) => token_type_ids !== undefined);
  return {
    input_ids: tensor(({ input_ids }, at) => input_ids[at] ?? pad),
    attention_mask: tensor(({ input_ids }, at) => (at < input_ids.length ? 1 : 0)),
    ...(isTyped ? { token_type_ids: tensor(({ token_type_ids }, at) => token_type_ids?.[at] ?? 0) } : {}),
  };
}

/** The query's beginning, leaving half of the room to the passage. */
function cutToHalf(tokenizer: Tokenizer, query: string, most: number): string {
  let cut = query;
  for (;;) {
    const { length } = tokenizer(cut, { add_special_tokens: false, return_tensor: false }).input_ids;
    if (length <= most / 2) return cut;
    cut = cut.slice(0, Math.floor((cut.length * most) / 2 / length)).toWellFormed();
  }
}

/**
 * A thread that runs transformer models by way of the package @huggingface/transformers, which is installed by who wants it. It keeps
 * the models that it has loaded, from a folder or from the hub, and runs one task at a time. Vectors are of unit length; what a model cannot read of a text is cut off by its own tokenizer.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorMessage } from '../domain/error-message.ts';
import { threadData } from './thread-pool.ts';

export interface TransformerThreadData {
  /** What is imported: the package's name, or the URL of its main file. */
  module: string;
  /** Where files from the hub are kept. */
  cacheDir: string;
}

export interface TransformerTexts {
  /** Folder of a model in the layout of the hub, or its id there. */
  model: string;
  texts: readonly string[];
  /** A text's vector: that of its first token, or the mean of all. */
  pooling: 'cls' | 'mean';
}

export type TransformerAnswer =
  /** Shape: texts × dim. */
  | { dim: number; rows: Float32Array }
  /** The package is not there; the model is not there or is not one; the hub cannot be reached. */
  | { problem: 'missing' | 'unloadable' | 'unreachable'; message: string };

/** As much of the package as is used. */
interface Transformers {
  env: { allowRemoteModels: boolean; cacheDir: string };
  pipeline(task: 'feature-extraction', model: string): Promise<Extractor>;
}
type Extractor = (
  texts: readonly string[],
  options: { pooling: TransformerTexts['pooling']; normalize: boolean },
) => Promise<{ dims: readonly number[]; data: Float32Array }>;

class LoadError extends Error {
  readonly problem: 'missing' | 'unloadable' | 'unreachable';

  constructor(problem: LoadError['problem'], cause: unknown) {
    super(errorMessage(cause), { cause });
    this.problem = problem;
  }
}

const data = threadData<TransformerThreadData>();
const extractors = new Map<string, Extractor>();

/** Errors: what the model's run throws. */
export async function embedTexts({ model, texts, pooling }: TransformerTexts): Promise<TransformerAnswer> {
  try {
    const extract = extractors.get(model) ?? (await load(model));
    extractors.set(model, extract);
    const { dims, data: rows } = await extract(texts, { pooling, normalize: true });
    return { dim: dims[dims.length - 1], rows: Float32Array.from(rows) };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    return { problem: error.problem, message: error.message };
  }
}

async function load(model: string): Promise<Extractor> {
  const { env, pipeline } = await loadPackage();
  const isFolder = existsSync(model);
  env.cacheDir = join(data.cacheDir, 'transformers');
  env.allowRemoteModels = !isFolder;
  try {
    return await pipeline('feature-extraction', isFolder ? resolve(model) : model);
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

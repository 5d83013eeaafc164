/** The model in native ONNX, else WebAssembly. Only the encoder's process loads it: a native fault ends that. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorMessage } from '../domain/errors.ts';
import { isSource, programDir } from '../files/program-files.ts';
import type { Runtime } from './encoder-messages.ts';

export interface OnnxSession {
  runtime: Runtime;
  /** Why it is not the native runtime; null if it is. */
  reason: string | null;
  /** Encode one window of ids. Errors: the runtime's. */
  run(ids: readonly number[]): Promise<EncodedWindow>;
}

export interface EncodedWindow {
  /** A vector of unit length. Shape: [dim]. */
  vector: Float32Array;
  /** States of a middle layer for each id (models/README.md). Shape: ids × dim. */
  states: Float32Array;
}

interface OnnxRuntime {
  InferenceSession: { create(model: string | Uint8Array, options: object): Promise<Session> };
  Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => object;
  env: { wasm: { numThreads?: number; wasmPaths?: { mjs: string; wasm: string } } };
}

interface Session {
  run(feeds: Record<string, object>, fetches: readonly string[]): Promise<Record<string, { data: unknown }>>;
}

const require = createRequire(import.meta.url);
/** The package is optional. A variable, so that the bundler does not include it. */
const nativePackage = 'onnxruntime-node';
const outputs = ['sentence_embedding', 'token_states'] as const;
/** No arena and no patterns: they keep memory for each length of window. One thread: a second makes windows hardly faster and searches slower. */
const options = {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  enableCpuMemArena: false,
  enableMemPattern: false,
  logSeverityLevel: 3,
  extra: { session: { intra_op: { allow_spinning: '0' } } },
};

/** Errors: of the WebAssembly runtime, or of the model's file. `native` false: does not try the native runtime. */
export async function openOnnxSession(model: string, { native }: { native: boolean }): Promise<OnnxSession> {
  let reason = 'it is switched off';
  if (native) {
    try {
      const runtime: OnnxRuntime = require(nativePackage);
      return sessionOf('native', runtime, await runtime.InferenceSession.create(model, options), null);
    } catch (error) {
      reason = errorMessage(error).split('\n')[0];
    }
  }
  const runtime = await webAssemblyRuntime();
  // A path would be treated as an address and loaded by fetch().
  const session = await runtime.InferenceSession.create(readFileSync(model), {
    executionProviders: ['wasm'],
    logSeverityLevel: 3,
  });
  return sessionOf('webassembly', runtime, session, reason);
}

/** The three files of the runtime: next to the bundled program, or in the installed package. */
async function webAssemblyRuntime(): Promise<OnnxRuntime> {
  const dir = isSource
    ? join(programDir, 'node_modules/onnxruntime-web/dist')
    : join(programDir, 'dist/onnxruntime-web');
  const file = (name: string) => pathToFileURL(join(dir, name)).href;
  const runtime: OnnxRuntime = await import(file('ort.wasm.min.mjs'));
  runtime.env.wasm.numThreads = 1;
  runtime.env.wasm.wasmPaths = {
    mjs: file('ort-wasm-simd-threaded.mjs'),
    wasm: file('ort-wasm-simd-threaded.wasm'),
  };
  return runtime;
}

function sessionOf(runtime: Runtime, { Tensor }: OnnxRuntime, session: Session, reason: string | null): OnnxSession {
  return {
    runtime,
    reason,
    async run(ids) {
      const dims = [1, ids.length];
      const input_ids = new Tensor('int64', BigInt64Array.from(ids, BigInt), dims);
      const attention_mask = new Tensor('int64', new BigInt64Array(ids.length).fill(1n), dims);
      const found = await session.run({ input_ids, attention_mask }, outputs);
      const [vector, states] = outputs.map((name) => found[name].data as Float32Array);
      return { vector, states };
    },
  };
}

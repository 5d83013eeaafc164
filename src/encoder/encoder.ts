/**
 * Vectors of queries and passages from one process for all libraries. It starts on demand and ends when idle: only its
 * end frees the runtime's memory. A text that ends the process twice gets no vector.
 *
 *   off ─ encode ─▶ loading ─ ready ─▶ running ─ idle ─▶ off
 *                      │                  └ ends, hangs ─▶ loading, while a call waits
 *                      └ unusable ─▶ off, and calls fail for a while
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { NameSpans } from '../compute/text/name-tags.ts';
import { errorMessage } from '../domain/errors.ts';
import { programDir, programFile, startsSource } from '../files/program-files.ts';
import { encoderDir } from './encoder-files.ts';
import type { FromEncoder, InputKind, Runtime, ToEncoder } from './encoder-messages.ts';

export interface EncoderLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EncoderOptions {
  dim: number;
  log: EncoderLog;
  dir?: string | undefined;
  /** False: use WebAssembly, even if the native runtime loads. */
  native?: boolean;
  /** The process ends after this time without a call, ms. */
  idleMs?: number;
  /** The process is killed if it does not answer a call within this time, ms. */
  hangMs?: number;
}

export interface EncodedTexts {
  /** Shape: texts × dim, unit length; zeros for a text without a vector. */
  rows: Float32Array;
  /** Why texts have no vector, by their indexes. */
  failed: ReadonlyMap<number, string>;
  names: NameSpans[];
}

export class EncoderUnusableError extends Error {
  readonly code = 'encoder_unusable';
}

interface Call {
  kind: InputKind;
  texts: readonly string[];
  rows: Float32Array;
  failed: Map<number, string>;
  names: NameSpans[];
  /** Index of the next text; `ends`: number of processes that ended while encoding it. */
  at: number;
  ends: number;
  /** Index of the first text that the current process got. */
  from: number;
  resolve: (encoded: EncodedTexts) => void;
  reject: (error: unknown) => void;
}

const defaultIdleMs = 600_000;
/** Loading takes a second, a window 0.1 s. With little memory, both may take long. */
const defaultHangMs = 120_000;
/** After the encoder was unusable, calls fail at once for this time, ms. */
const unusableMs = 60_000;
const mostEnds = 2;
/** Max processes in a row that may end while loading; the second one uses WebAssembly. */
const mostDeadLoads = 2;
/** Max texts in a row that may end processes. Then texts are not the cause, and WebAssembly is tried. */
const mostDeadTexts = 3;
/** Max cached vectors of queries, 1.5 KB each. */
const rememberedQueries = 500;

export class Encoder {
  readonly #options: Required<EncoderOptions> & { dir: string };
  readonly #calls = new Map<number, Call>();
  readonly #queries = new Map<string, Float32Array>();
  #lastCall = 0;
  #process: ChildProcess | null = null;
  /** The call that the process is working on; null before the first. */
  #working: number | null = null;
  /** Processes in a row that ended without a vector, while loading. */
  #deadLoads = 0;
  /** Texts in a row that ended `mostEnds` processes each. */
  #deadTexts = 0;
  #runtime: Runtime | null = null;
  #unusable: { reason: string; at: number } | null = null;
  #idle: NodeJS.Timeout | undefined;
  #hang: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: EncoderOptions) {
    const { dir = encoderDir, native = true, idleMs = defaultIdleMs, hangMs = defaultHangMs } = options;
    this.#options = { ...options, dir, native, idleMs, hangMs };
  }

  /** `runtime`: that of the latest process; `unusable`: why it cannot be used, or null. */
  get state(): { pid: number | null; runtime: Runtime | null; unusable: string | null } {
    const { reason = null } = this.#unusable ?? {};
    return { pid: this.#process?.pid ?? null, runtime: this.#runtime, unusable: reason };
  }

  /** The vector of a query; null if the text has none. Errors: EncoderUnusableError; the signal's reason. */
  async query(text: string, signal?: AbortSignal): Promise<Float32Array | null> {
    const known = this.#queries.get(text);
    if (known !== undefined) return known;
    const { rows, failed } = await this.encode([text], 'query', signal);
    if (failed.size > 0) return null;
    if (this.#queries.size >= rememberedQueries) this.#queries.clear();
    this.#queries.set(text, rows);
    return rows;
  }

  /** Errors: EncoderUnusableError; the signal's reason. */
  encode(texts: readonly string[], kind: InputKind, signal?: AbortSignal): Promise<EncodedTexts> {
    const { dim } = this.#options;
    const rows = new Float32Array(texts.length * dim);
    const failed = new Map<number, string>();
    const names = texts.map((): NameSpans => []);
    if (texts.length === 0) return Promise.resolve({ rows, failed, names });
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const problem = this.#problem();
      if (problem !== null) throw new EncoderUnusableError(problem);
      const no = ++this.#lastCall;
      const leave = () => {
        this.#end(no);
        this.#say({ do: 'cancel', call: no });
        reject(signal?.reason);
      };
      const ended =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          signal?.removeEventListener('abort', leave);
          settle(value);
        };
      signal?.addEventListener('abort', leave, { once: true });
      const call = { kind, texts, rows, failed, names, at: 0, ends: 0, from: 0 };
      this.#calls.set(no, { ...call, resolve: ended(resolve), reject: ended(reject) });
      this.#start();
      this.#give(no);
      // A further call does not restart the time limit of a silent process.
      if (this.#calls.size === 1) this.#watch();
    });
  }

  /** All calls fail. Resolves when the process has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failAll(new EncoderUnusableError('the encoder was closed'));
    const child = this.#process;
    if (child === null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.ref();
    this.#stop();
    await gone;
  }

  #problem(): string | null {
    if (this.#isClosed) return 'the encoder was closed';
    if (this.#unusable !== null && performance.now() - this.#unusable.at < unusableMs) return this.#unusable.reason;
    this.#unusable = null;
    return null;
  }

  #start(): void {
    if (this.#process !== null) return;
    const { dir, native } = this.#options;
    const loader = pathToFileURL(join(programDir, 'scripts/tsx-in-threads.mjs')).href;
    const priority = process.env.READBACK_PRIORITIES === 'equal' ? 'equal' : 'low';
    // A native runtime that ends its process is not tried again.
    const isNative = native && this.#deadLoads === 0 && this.#deadTexts < mostDeadTexts;
    const args = [dir, isNative ? 'native' : 'webassembly', priority];
    this.#working = null;
    let child: ChildProcess;
    try {
      child = fork(fileURLToPath(programFile('encoder/encoder-process')), args, {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        // The process gets no secrets of this one, and the runtime no telemetry.
        env: { ORT_DISABLE_TELEMETRY: '1' },
        execArgv: startsSource ? ['--import', loader] : [],
      });
    } catch (error) {
      // Probably too little memory, or too many processes.
      this.#giveUp(`it could not be started (${errorMessage(error)})`);
      return;
    }
    this.#process = child;
    child.on('message', (message: FromEncoder) => this.#hear(child, message));
    child.once('error', () => this.#ended(child, 'it could not be started'));
    child.once('exit', (code, signal) => {
      const ended = () => this.#ended(child, signal ?? `exit code ${code}`);
      if (child.connected)
        child.once('disconnect', ended); // its last messages arrive before this event
      else ended();
    });
  }

  #give(no: number): void {
    const call = this.#calls.get(no);
    if (call === undefined) return;
    call.from = call.at;
    this.#say({ do: 'encode', call: no, kind: call.kind, texts: call.texts.slice(call.at) });
  }

  #say(message: ToEncoder): void {
    if (this.#process?.connected !== true) return;
    this.#process.send(message, () => {}); // if the process has ended, its exit event reports that
  }

  #hear(child: ChildProcess, message: FromEncoder): void {
    if (child !== this.#process) return;
    this.#watch();
    if (message.is === 'ready') {
      const { runtime, reason } = message;
      if (runtime !== this.#runtime) this.#options.log.info({ runtime, reason }, 'the encoder is loaded');
      this.#runtime = runtime;
    } else if (message.is === 'unusable') {
      this.#giveUp(message.reason);
    } else if (message.is === 'at') {
      this.#working = message.call;
    } else {
      this.#deadLoads = 0;
      this.#deadTexts = 0;
      const { call: no, at, row, names, reason } = message;
      const call = this.#calls.get(no);
      if (call === undefined || call.from + at !== call.at) return;
      call.names[call.at] = names;
      if (row?.length === this.#options.dim) call.rows.set(row, call.at * row.length);
      else call.failed.set(call.at, reason ?? 'the vector has another length');
      this.#next(no, call);
    }
  }

  #next(no: number, call: Call): void {
    call.at++;
    call.ends = 0;
    if (call.at < call.texts.length) return;
    this.#end(no);
    call.resolve({ rows: call.rows, failed: call.failed, names: call.names });
  }

  #end(no: number): void {
    this.#calls.delete(no);
    if (this.#calls.size === 0) this.#watch();
  }

  /** The process ended while it was needed. A new process gets the remaining texts. */
  #ended(child: ChildProcess, reason: string): void {
    if (child !== this.#process) return;
    this.#process = null;
    this.#watch();
    if (this.#calls.size === 0) return;
    this.#options.log.warn({ reason }, 'the encoder ended: restarting it');
    const no = this.#working;
    if (no === null && ++this.#deadLoads >= mostDeadLoads) {
      this.#deadLoads = 0;
      this.#giveUp(`its process ends while loading (${reason})`);
      return;
    }
    // Calls that only waited did not cause it.
    const call = no === null ? undefined : this.#calls.get(no);
    if (no !== null && call !== undefined && ++call.ends >= mostEnds) {
      call.failed.set(call.at, `the encoder ended (${reason})`);
      if (++this.#deadTexts > mostDeadTexts) {
        this.#giveUp(`its process ends with every text (${reason})`);
        return;
      }
      if (this.#deadTexts < mostDeadTexts) this.#next(no, call);
      else {
        while (call.failed.delete(call.at)) call.at--;
        call.at++;
        call.ends = 0;
      }
    }
    if (this.#calls.size === 0) return;
    this.#start();
    for (const no of this.#calls.keys()) this.#give(no);
    this.#watch();
  }

  /** From now on, watch for a hang if calls wait, else for idleness. Only calls keep this process running. */
  #watch(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#hang);
    const child = this.#process;
    if (child === null) return;
    if (this.#calls.size > 0) {
      child.ref();
      child.channel?.ref();
      this.#hang = setTimeout(() => child.kill('SIGKILL'), this.#options.hangMs);
      this.#hang.unref();
    } else {
      child.unref();
      child.channel?.unref();
      this.#idle = setTimeout(() => this.#stop(), this.#options.idleMs);
      this.#idle.unref();
    }
  }

  #giveUp(reason: string): void {
    this.#unusable = { reason: `the encoder cannot be used: ${reason}`, at: performance.now() };
    this.#options.log.warn({ reason }, 'the encoder cannot be used: searches use words only');
    this.#stop();
    this.#failAll(new EncoderUnusableError(this.#unusable.reason));
  }

  #stop(): void {
    // Query vectors are dropped together with the process that made them.
    this.#queries.clear();
    const child = this.#process;
    this.#process = null;
    clearTimeout(this.#idle);
    clearTimeout(this.#hang);
    child?.kill('SIGKILL');
  }

  #failAll(error: Error): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls) reject(error);
  }
}

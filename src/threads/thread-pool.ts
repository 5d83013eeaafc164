/**
 * The one place that knows piscina. A thread entry is a module whose named exports are its tasks; a pool runs them by
 * name, typed by that module: bytes and plain data in, bytes and plain data out.
 * A pool of one thread is a pinned thread: it is never replaced while idle, so it may keep state (a native index,
 * segments) between tasks, which run one at a time and in the order they were given.
 * Queues are bounded: past the bound `run` rejects with QueueFullError. What waits has an owner, and owners take turns. A task that is given up while it waits leaves the queue at
 * once with its arguments. Aborting a running task ends its thread, and piscina
 * starts another; that is why no thread may hold anything that others wait for, such as a lock of LMDB. A thread that is ended
 * inside a native library ends the whole process (its next call into JavaScript fails, which node-addon-api answers with
 * abort()), so pools of `uninterrupted` threads abandon a task instead: the caller goes on, the thread finishes.
 */
import { parentPort } from 'node:worker_threads';
import pLimit from 'p-limit';
import { Piscina } from 'piscina';
import { traced } from '../tracing/span.ts';
import { Semaphore, SemaphoreFullError } from './semaphore.ts';
import { markThread, PassingLimit, ProcessorLimit, type ThreadMark, type TimeLimit } from './time-limits.ts';

/** The task was refused because `maxQueue` tasks wait already; it may be tried again. */
export class QueueFullError extends Error {
  readonly code = 'queue_full';
  readonly retryable = true;
}

/** The task was stopped because it went over its time. */
export class TaskTimeoutError extends Error {
  readonly code = 'task_timeout';
  readonly retryable = false;
  /** The limit that ended it, ms: of passing time, or of processor time. */
  readonly limitMs: number;
  /** It was the work itself that took so long, however busy the machine is. */
  readonly ofProcessor: boolean;

  constructor(name: string, { limitMs, kind }: TimeLimit, options?: ErrorOptions) {
    super(`${name} took longer than ${limitMs} ms${kind}`, options);
    this.limitMs = limitMs;
    this.ofProcessor = kind !== '';
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a task may take and give anything that can be cloned
type Task = (argument: any) => unknown;

export interface ThreadPoolOptions {
  /** Module of the thread: `programFile('threads/…-thread')`. */
  entry: URL;
  name: string;
  threads: number;
  /** Tasks that may wait, of each owner. */
  maxQueue: number;
  /** Cloned to each thread; SharedArrayBuffers in it are shared, not copied. Read with `threadData()`. */
  data?: unknown;
  /** Heap limit of each thread, in MiB; over it the task rejects and the thread is replaced. Buffers do not count. */
  maxHeapMb?: number;
  /** Room for new objects in each thread, in MiB; by default up to 48. Less is collected more often and stays in the cache. */
  maxYoungMb?: number;
  /** Threads end after so long without work: for tasks that keep no state, or none that is not made again. */
  idleMs?: number;
  /** Added to the threads' nice value: 10 makes indexing yield to search. With `READBACK_PRIORITIES=equal`, as in tests, none is. */
  nice?: number;
  /** For threads that call native code or keep state: no signal or time limit ends a thread, the task's result is dropped. */
  uninterrupted?: boolean;
}

/** `idleMs` of tasks that keep no state: an importer's pauses are shorter; after it the threads' memory is given back. */
export const statelessIdleMs = 20_000;

export interface RunOptions {
  signal?: AbortSignal;
  /** Milliseconds from when the task's turn has come to its result: the start of a thread counts, the wait in the queue does not. */
  timeoutMs?: number;
  /**
   * Milliseconds of processor time of a task that says when it begins (`beginTask`); a limit only where the kernel counts them, so
   * there is a `timeoutMs`, too. The argument is an object then, and gets its `call`.
   */
  processorMs?: number;
  /** ArrayBuffers moved instead of copied. */
  transfer?: ArrayBuffer[];
}

/** An argument of a task that may have a limit of processor time. */
export interface Limited {
  /** Which run it is; set by the pool where there is one. */
  call?: number;
}

/** What a thread posts when such a task begins. */
interface Begun {
  call: number;
  begun: ThreadMark;
}

export interface ThreadPool<Tasks> {
  run<Name extends keyof Tasks & string>(
    name: Name,
    argument: Tasks[Name] extends (argument: infer Argument) => unknown ? Argument : never,
    options?: RunOptions,
  ): Promise<Tasks[Name] extends Task ? Awaited<ReturnType<Tasks[Name]>> : never>;
  /** Bulk work, asked for piece by piece: one piece at a time goes to the pool, so that other tasks wait for one of them at most. */
  inTurn<Result>(piece: () => Promise<Result>): Promise<Result>;
  /** The same threads for an owner: its tasks take turns with those of others, and its pieces with its own. */
  of(owner: string): SharedPool<Tasks>;
  /** Tasks waiting for a thread. */
  readonly queued: number;
  /** Tasks waiting and running. */
  readonly load: number;
  /** Waits for running tasks, refuses waiting ones, ends the threads. */
  close(): Promise<void>;
}

/** A pool as one of its owners has it, who does not close it. */
export type SharedPool<Tasks> = Omit<ThreadPool<Tasks>, 'of' | 'close'>;

/** Open a pool over the tasks of one thread entry: `openThreadPool<typeof import('./shard-thread.ts')>(…)`. */
export function openThreadPool<Tasks>(options: ThreadPoolOptions): ThreadPool<Tasks> {
  const piscina = new Piscina({
    filename: options.entry.href,
    name: options.name,
    // Piscina gives work to its first threads while they load, and Node ends the process where such a thread is ended.
    minThreads: 0,
    maxThreads: options.threads,
    idleTimeout: options.idleMs ?? Number.POSITIVE_INFINITY,
    maxQueue: options.threads, // whose threads are starting; tasks wait for `semaphore`, and more of them never come here
    stricterFIFO: true,
    atomics: 'async',
    workerData: options.data,
    recordTiming: false,
    closeTimeout: 30_000,
    ...(options.nice === undefined || process.env.READBACK_PRIORITIES === 'equal'
      ? {}
      : { niceIncrement: options.nice }),
    resourceLimits: {
      ...(options.maxHeapMb === undefined ? {} : { maxOldGenerationSizeMb: options.maxHeapMb }),
      ...(options.maxYoungMb === undefined ? {} : { maxYoungGenerationSizeMb: options.maxYoungMb }),
    },
  });
  // A task that ends while it is being aborted, or a thread that dies between tasks, is told here; the pool goes on by itself.
  // What follows the colon may be a task's result, that is, page text.
  piscina.on('error', (error: Error) => process.emitWarning(`${options.name}: ${error.message.split(':', 1)[0]}`));
  const fullQueue = `${options.name} has ${options.maxQueue} tasks waiting`;
  let calls = 0;
  /** By call its limit of processor time. */
  const processorLimits = new Map<number, ProcessorLimit>();
  piscina.on('message', ({ call, begun }: Begun) => processorLimits.get(call)?.begin(begun));
  const loadedThreads = new Set<unknown>();
  let endedThreads = 0;
  /** Aborted, and replaced, when a thread could not load its module and there is no other: nobody takes the tasks that wait for it. */
  let noThread = new AbortController();
  piscina.on('workerCreate', (thread) => loadedThreads.add(thread));
  piscina.on('workerDestroy', (thread) => {
    endedThreads++;
    if (loadedThreads.delete(thread) || loadedThreads.size > 0) return;
    noThread.abort(new Error(`${options.name}: no thread could be started`));
    noThread = new AbortController();
  });
  let load = 0;
  // Of tasks with a signal that wait, piscina takes the last one first and does not bound how many there are; so all wait here.
  const semaphore = new Semaphore(options.threads, options.maxQueue);
  const runOf =
    (owner: string): ThreadPool<Tasks>['run'] =>
    async (name, given, { signal, timeoutMs, processorMs, transfer } = {}) => {
      load++;
      const call = ++calls;
      const argument = processorMs === undefined ? given : { ...(given as object), call };
      const processorLimit = processorMs === undefined ? undefined : new ProcessorLimit(processorMs);
      if (processorLimit !== undefined) processorLimits.set(call, processorLimit);
      const passingLimit = timeoutMs === undefined ? undefined : new PassingLimit(timeoutMs);
      const limits: TimeLimit[] = [passingLimit, processorLimit].filter((each) => each !== undefined);
      const signals = [signal, ...limits.map((limit) => limit.signal)].filter((each) => each !== undefined);
      // Of a task that runs the pool ends the thread, of one that is only given up it does not: this listener is called before the pool's own.
      let endedBefore = 0;
      for (const limit of limits) {
        limit.signal.addEventListener('abort', () => {
          endedBefore = endedThreads;
        });
      }
      try {
        const stop = signals.length === 0 ? undefined : AbortSignal.any(signals);
        await semaphore.acquire(stop, owner);
        passingLimit?.begin();
        const lacking = noThread.signal;
        const interrupting = stop === undefined || options.uninterrupted ? lacking : AbortSignal.any([stop, lacking]);
        const moved = transfer === undefined ? {} : { transferList: transfer };
        const inThread = async () => {
          try {
            stop?.throwIfAborted();
            return await traced(`thread ${options.name}.${name}`, {}, () =>
              unlessAborted(piscina.run(argument, { name, ...moved, signal: interrupting }), lacking),
            );
          } finally {
            semaphore.release();
          }
        };
        return await (stop === undefined ? inThread() : unlessAborted(inThread(), stop));
      } catch (error) {
        const reached = limits.find((limit) => limit.signal.aborted);
        if (reached !== undefined && !signal?.aborted) {
          if (endedThreads > endedBefore)
            process.emitWarning(`${options.name}: a task took too long and ended with its thread`);
          throw new TaskTimeoutError(`${options.name}.${name}`, reached, { cause: error });
        }
        if (error instanceof SemaphoreFullError) throw new QueueFullError(fullQueue, { cause: error });
        throw error;
      } finally {
        processorLimits.delete(call);
        for (const limit of limits) limit.end();
        load--;
      }
    };
  const of = (owner: string): SharedPool<Tasks> => {
    const pieces = pLimit(1);
    return {
      run: runOf(owner),
      inTurn: (piece) => pieces(piece),
      get queued() {
        return semaphore.waiting;
      },
      get load() {
        return load;
      },
    };
  };
  return Object.assign(of(''), {
    of,
    async close() {
      semaphore.close(new DOMException(`${options.name} is closed`, 'AbortError'));
      while (piscina.threads.length > loadedThreads.size) await threadLoadedOrEnded(piscina);
      await piscina.close({ force: true });
    },
  });
}

function threadLoadedOrEnded(piscina: Piscina): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['workerCreate', 'workerDestroy']) piscina.once(event, () => resolve());
  });
}

/** A result, unless the signal comes first: then its reason, and whatever becomes of the result is of no interest. */
function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** In a task that may have a limit of processor time: it begins here. */
export function beginTask({ call }: Limited): void {
  if (call === undefined) return;
  const begun = markThread();
  if (begun !== null) parentPort?.postMessage({ call, begun } satisfies Begun);
}

/**
 * In a task: what refuses a document for good; `message` is the sentence for its job and names nothing of it. An error that crosses
 * threads keeps its message and its cause; its class and its own properties are lost.
 */
export function unreadable(message: string): Error {
  return new Error(message, { cause: { code: 'unreadable' } });
}

/** In a thread: a task's result whose `buffers`, which nobody there uses any more, are moved to the caller instead of copied. */
export function moved<Result>(result: Result, buffers: ArrayBufferLike[]): Result {
  const transferable = buffers.filter((buffer) => buffer instanceof ArrayBuffer);
  return Piscina.move({
    get [Piscina.transferableSymbol]() {
      return transferable;
    },
    get [Piscina.valueSymbol]() {
      return result;
    },
  } as never) as Result;
}

/** In a thread: the `data` that its pool was opened with. */
export function threadData<Data>(): Data {
  return Piscina.workerData as Data;
}

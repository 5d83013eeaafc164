/**
 * The only module that uses piscina. A thread entry's named exports are its tasks; a pool runs them by name. A pool of
 * one thread is pinned: never replaced while idle, so it may keep state between tasks, which begin in order.
 *
 * Queues are bounded: past the limit `run` rejects with QueueFullError. Owners take turns. An abort removes a waiting
 * task and ends the thread of a running one, so no thread may own what others wait for, such as an LMDB lock. Ending a
 * thread inside a native library ends the process; pools of `uninterrupted` threads drop the result instead.
 */
import { setMaxListeners } from 'node:events';
import { parentPort } from 'node:worker_threads';
import pLimit from 'p-limit';
import { Piscina } from 'piscina';
import { traced } from '../compute/span.ts';
import { unlessAborted } from '../compute/unless-aborted.ts';
import { Semaphore, SemaphoreFullError } from './semaphore.ts';
import { markThread, type ThreadMark, TimeLimit } from './time-limits.ts';

export class QueueFullError extends Error {
  readonly code = 'queue_full';
}

export class TaskTimeoutError extends Error {
  readonly code = 'task_timeout';
  /** ms of elapsed or of processor time. */
  readonly limitMs: number;
  /** The work itself took too long; the load of the machine does not matter. */
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
  /** Max tasks that an `uninterrupted` thread runs at once, for tasks that wait; default 1. */
  tasksPerThread?: number;
  maxQueue: number;
  /** Cloned to each thread; SharedArrayBuffers are shared. Read with `threadData()`. */
  data?: unknown;
  /** Max heap per thread, MiB. Above it the task rejects and the thread is replaced. Excludes buffers. */
  maxHeapMb?: number;
  /** Young generation per thread, MiB, default up to 48. A smaller one is collected more often and fits the cache. */
  maxYoungMb?: number;
  /** Idle threads end after this time: for stateless tasks, or state that is recreated. */
  idleMs?: number;
  /** Added to the threads' nice value: 10 makes indexing yield to search. Ignored with `READBACK_PRIORITIES=equal`, as in tests. */
  nice?: number;
  /** For native code or state: no signal or limit ends a thread; the result is dropped. */
  uninterrupted?: boolean;
}

/** `idleMs` of stateless tasks: longer than an importer's pauses. Afterwards memory is freed. */
export const statelessIdleMs = 20_000;

export interface RunOptions {
  signal?: AbortSignal | undefined;
  /** Max time from the task's turn to its result, ms. Includes the start of a thread, not the queue. */
  timeoutMs?: number;
  /** Max processor time, ms, of a task that calls `beginTask` with an object. Also set `timeoutMs`: kernels differ. */
  processorMs?: number;
  transfer?: ArrayBuffer[];
}

export interface Limited {
  /** Set by the pool for `processorMs`; read by `beginTask`. */
  call?: number;
}

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
  /** Bulk work in pieces. One piece at a time goes to the pool, so other tasks wait for at most one piece. */
  inTurn<Result>(piece: () => Promise<Result>): Promise<Result>;
  /** The same threads for an owner: its tasks and pieces take turns with others'. */
  of(owner: string): SharedPool<Tasks>;
  readonly queued: number;
  readonly load: number;
  /** Waits for running tasks, refuses waiting ones, and ends the threads. */
  close(): Promise<void>;
}

export type SharedPool<Tasks> = Omit<ThreadPool<Tasks>, 'of' | 'close'>;

/** Use as `openThreadPool<typeof import('./work-thread.ts')>(…)`. */
export function openThreadPool<Tasks>(options: ThreadPoolOptions): ThreadPool<Tasks> {
  const { tasksPerThread = 1 } = options;
  const piscina = new Piscina({
    filename: options.entry.href,
    name: options.name,
    // Piscina sends tasks to threads that still load, and Node crashes if such a thread is ended.
    minThreads: 0,
    maxThreads: options.threads,
    concurrentTasksPerWorker: tasksPerThread,
    idleTimeout: options.idleMs ?? Number.POSITIVE_INFINITY,
    maxQueue: options.threads * tasksPerThread, // while they start; tasks wait for `semaphore`, so no more come here
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
  // A task that ends during its abort, or a thread that dies between tasks. The message may contain page text.
  piscina.on('error', (error: Error) => process.emitWarning(`${options.name}: ${error.message.split(':', 1)[0]}`));
  const fullQueue = `${options.name} has ${options.maxQueue} tasks waiting`;
  let calls = 0;
  const processorLimits = new Map<number, TimeLimit>();
  piscina.on('message', ({ call, begun }: Begun) => processorLimits.get(call)?.begin(begun));
  const loadedThreads = new Set<unknown>();
  let endedThreads = 0;
  /** Aborted, then replaced, if a thread could not load its module and no other thread is left for waiting tasks. */
  let noThread = abortedForAll();
  piscina.on('workerCreate', (thread) => loadedThreads.add(thread));
  piscina.on('workerDestroy', (thread) => {
    endedThreads++;
    if (loadedThreads.delete(thread) || loadedThreads.size > 0) return;
    noThread.abort(new Error(`${options.name}: no thread could be started`));
    noThread = abortedForAll();
  });
  let load = 0;
  // piscina runs waiting tasks that have a signal in LIFO order, without a limit. So they wait here.
  const semaphore = new Semaphore(options.threads * tasksPerThread, options.maxQueue);
  const runOf =
    (owner: string): ThreadPool<Tasks>['run'] =>
    async (name, given, { signal, timeoutMs, processorMs, transfer } = {}) => {
      load++;
      const call = ++calls;
      const argument = processorMs === undefined ? given : { ...(given as object), call };
      const processorLimit = processorMs === undefined ? undefined : new TimeLimit(processorMs, ' of processor time');
      if (processorLimit !== undefined) processorLimits.set(call, processorLimit);
      const passingLimit = timeoutMs === undefined ? undefined : new TimeLimit(timeoutMs, '');
      const limits: TimeLimit[] = [passingLimit, processorLimit].filter((each) => each !== undefined);
      const signals = [signal, ...limits.map((limit) => limit.signal)].filter((each) => each !== undefined);
      // Aborting a running task ends its thread, unlike a waiting one. This listener runs before the pool's own.
      let endedBefore = 0;
      for (const limit of limits) {
        limit.signal.addEventListener('abort', () => {
          endedBefore = endedThreads;
        });
      }
      try {
        const stop = signals.length < 2 ? signals[0] : AbortSignal.any(signals);
        await semaphore.acquire(stop, owner);
        passingLimit?.begin();
        const lacking = noThread.signal;
        const interrupting = stop === undefined || options.uninterrupted ? lacking : AbortSignal.any([stop, lacking]);
        // A thread with a task that has a signal gets no other. Once a thread is loaded, tasks are dropped without one.
        const isAbandoned = options.uninterrupted === true && loadedThreads.size > 0;
        const abortable = isAbandoned ? {} : { signal: interrupting };
        const moved = transfer === undefined ? {} : { transferList: transfer };
        const inThread = async () => {
          try {
            stop?.throwIfAborted();
            return await traced(`thread ${options.name}.${name}`, {}, () =>
              unlessAborted(piscina.run(argument, { name, ...moved, ...abortable }), lacking),
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

function abortedForAll(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

function threadLoadedOrEnded(piscina: Piscina): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['workerCreate', 'workerDestroy']) piscina.once(event, () => resolve());
  });
}

/** Call in a task with a limit of processor time, to start the count. */
export function beginTask({ call }: Limited): void {
  if (call === undefined) return;
  const begun = markThread();
  if (begun !== null) parentPort?.postMessage({ call, begun } satisfies Begun);
}

/** Call in a task to refuse a document for good. `message` quotes nothing of it. Errors lose their class. */
export function unreadable(message: string): Error {
  return new Error(message, { cause: { code: 'unreadable' } });
}

/** In a thread: moves a result's `buffers` to the caller instead of copying. */
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

export function threadData<Data>(): Data {
  return Piscina.workerData as Data;
}

// Lets tests and benches run the .ts sources. `--import tsx` registers its loader in the main thread only; this module is
// handed on to worker threads with the process's other options and registers it in each, unless all of them run what is compiled.
import { isMainThread } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

if (isMainThread || process.env.READBACK_THREADS !== 'compiled') register();

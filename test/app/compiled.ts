/** What is compiled in dist/, as people run it: each thread of a whole system would else read two hundred sources through a loader. */
import { join } from 'node:path';

process.env.READBACK_THREADS = 'compiled';
/** A module below `src`, by its path, as it was compiled. */
export const compiled = (path: string) => import(join(import.meta.dirname, '../../dist', `${path}.js`));

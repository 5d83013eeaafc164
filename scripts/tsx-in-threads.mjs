// Lets tests and benches run the .ts sources. `--import tsx` registers its loader in the main thread only; this module is
// handed on to worker threads with the process's other options and registers it in each.
import { register } from 'tsx/esm/api';

register();

/** A process for the tests of migrations: opens the store in the data folder of its argument, and is killed behind the first transaction. */
import { Store } from '../../src/store/store.ts';

const [path] = process.argv.slice(2);
let isBegun = false;
await Store.open(path, () => 'never', {
  say: () => {
    if (isBegun) process.kill(process.pid, 'SIGKILL');
    isBegun = true;
  },
});

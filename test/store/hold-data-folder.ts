/**
 * A process for the tests of the data folder's lock: waits until the time named in the second argument, tries to open the folder
 * named in the first, says how that went in one line, and holds it until its standard input ends.
 */
import { randomUUID } from 'node:crypto';
import { openDataFolder } from '../../src/store/data-folder.ts';

const [path, startAt] = process.argv.slice(2);
while (Date.now() < Number(startAt)); // all at once, to the millisecond
let line = 'open';
try {
  openDataFolder(path, randomUUID());
} catch (error) {
  line = error instanceof Error ? `${error.constructor.name}: ${error.message}` : String(error);
}
process.stdout.write(`${line}\n`);
process.stdin.on('data', () => {}).on('end', () => process.exit(0));

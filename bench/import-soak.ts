/**
 * `npm run soak -- --only import [-- --urls 100000 --bookmarks 20000 --kills 3 --seed 1]`: a synthetic history, with two visits of an address on
 * average, and bookmarks are imported into a stopped folder, killed on the way. Fails unless every page is there once, with its visits and dates.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { importThroughKills } from '../test/cli/import-through-kills.ts';
import { describeMachine } from './machine.ts';

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '100000' },
    bookmarks: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
});

const home = mkdtempSync(join(tmpdir(), 'readback-soak-'));
const began = performance.now();
try {
  const [urls, bookmarks] = [Number(values.urls), Number(values.bookmarks)];
  const result = await importThroughKills(home, {
    urls,
    bookmarks,
    kills: Number(values.kills),
    random: seededRandom(Number(values.seed)),
  });
  const { found, visits, answer } = result;
  const sound =
    result.wrong.length === 0 &&
    found.pages === urls + bookmarks &&
    found.visits === visits &&
    found.jobs === urls + bookmarks &&
    answer.accepted === urls &&
    (result.bookmarks?.answer.accepted ?? 0) === bookmarks &&
    answer.accepted + answer.revisit === visits;
  const machine = describeMachine();
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  console.log(
    JSON.stringify({ sound, ...result, wrong: result.wrong.length, seconds, seed: values.seed, machine }, null, 2),
  );
  process.exitCode = sound ? 0 : 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

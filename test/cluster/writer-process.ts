/**
 * A host of one library as a process: writes page after page, and says `acknowledged NO` behind each commit. It ends when its library is lost. Arguments: address of PostgreSQL,
 * name of the host, its folder, the lease in seconds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../../src/cluster/database.ts';
import { createPage } from '../../src/commands/ingest-page.ts';
import { openLibrary, quiet } from './opened-library.ts';
import { givenPage, policy, visits } from './pages.ts';

const [url, host, dir, leaseS] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
const database = await openDatabase({ url, timeoutMs: 5000, log: quiet });

async function opened() {
  for (;;) {
    const end = new AbortController();
    const options = { database, host, dir, leaseS: Number(leaseS), renewing: end.signal };
    const library = await openLibrary(options).catch(() => null);
    if (library !== null) return { library, end };
    end.abort();
    await delay(50);
  }
}

const { library, end } = await opened();
say(`serving ${library.claim.epoch} ${library.claim.seq}`);
try {
  for (let at = 1; ; at++) {
    const no = await library.store.commit((transaction) =>
      createPage(transaction, givenPage(`${host}-${library.claim.epoch}-${at}`), visits, policy),
    );
    say(`acknowledged ${no} ${host}-${library.claim.epoch}-${at}`);
  }
} catch (error) {
  say(`lost ${error instanceof Error ? error.message : String(error)}`);
}
end.abort();
await library.store.close();
await database.close();

/**
 * A host of one library as a process: writes page after page, and says `acknowledged NO` behind each commit. It ends when its library is lost. Arguments: address of PostgreSQL,
 * name of the host, its folder, the lease in seconds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../../src/cluster/database.ts';
import { createPage } from '../../src/commands/create-page.ts';
import { openLibrary, quiet } from './opened-library.ts';
import { givenPage, policy, visits } from './pages.ts';

const [url, host, dir, leaseS] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
const database = await openDatabase({ url, timeoutMs: 5000, log: quiet });

async function opened() {
  for (;;) {
    const library = await openLibrary({ database, host, dir, leaseS: Number(leaseS) }).catch(() => null);
    if (library !== null) return library;
    await delay(50);
  }
}

const library = await opened();
const renewing = setInterval(() => {
  const sentAt = library.lease.now();
  library.rows.renew([library.claim]).then(
    (mine) => {
      if (mine.get(library.claim.library) === true) library.lease.extend(sentAt);
    },
    () => {}, // the lease says when it is too late
  );
}, Number(leaseS) * 250);
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
clearInterval(renewing);
await library.store.close();
await database.close();

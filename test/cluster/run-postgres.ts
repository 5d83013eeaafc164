/** A PostgreSQL server for as long as standard input is open; its address on standard output. For programs that are no tests. */
import { Postgres } from './postgres.ts';

await using server = await Postgres.start({ connections: 400 });
process.stdout.write(`${server.url}\n`);
for await (const _ of process.stdin);

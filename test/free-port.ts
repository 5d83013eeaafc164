/** A port of 127.0.0.1 that nobody has now, below those that systems hand out by themselves: what else runs does not take it while its service is away. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error;
        return false;
      },
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

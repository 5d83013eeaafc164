/**
 * Ends the server in an orderly way: no new connections, requests under way are answered, connections that are only kept open
 * are closed. Node looks for idle connections once, when closing begins; one that becomes idle after that would keep the server
 * for its whole keep-alive time, and one that never finishes its request for longer, so both are seen to here.
 */
import type { HttpApp } from './http-app.ts';

/** How often connections that have become idle are closed, ms. */
const idleCheckMs = 50;

/** Stop; requests that are not answered after `answerWithinMs` are cut off. Resolves when every connection is closed. */
export async function stopListening(app: HttpApp, answerWithinMs: number): Promise<void> {
  const idleCheck = setInterval(() => app.server.closeIdleConnections(), idleCheckMs);
  const cut = setTimeout(() => app.server.closeAllConnections(), answerWithinMs);
  try {
    await app.close();
  } finally {
    clearInterval(idleCheck);
    clearTimeout(cut);
  }
}

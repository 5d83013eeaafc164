/**
 * Finds connections whose other side has vanished without a word: asleep, out of reach, its address taken over. A stream that is
 * mostly silent does not notice: the little that is written fits into the system's buffers, and the system itself gives up only
 * after a quarter of an hour of sending it again. Node has no call for that state, so the table of Linux is read. Elsewhere
 * there is no table, and the system's own time limit holds.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Tables of this process's network, by kind of socket. */
const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/**
 * How often in a row the oldest bytes were sent again without an answer. The wait doubles each time, from a fifth of a second or
 * more on a slow path, so that this is half a minute, in which a peer that only changes its network is back.
 */
const retriesOfLost = 7;

type Ends = Partial<Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>>;

/** Which of these connections have had no answer for half a minute though something was sent. */
export async function lostPeers<Connection extends Ends>(connections: readonly Connection[]): Promise<Connection[]> {
  if (connections.length === 0) return [];
  const texts = await Promise.all(tables.map(readTable));
  const lost = new Set(texts.flatMap(unansweredIn));
  return connections.filter((connection) => lost.has(keyOf(connection)));
}

/** Empty where there is no such table: another system, or one without this kind of address. */
async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Both ends of each connection in a table that was sent something again often enough.
 * Source: proc_net_tcp of the Linux documentation: `sl local remote st tx:rx tr:when retrnsmt …`, all hexadecimal.
 */
export function unansweredIn(table: string): string[] {
  return table.split('\n').flatMap((line) => {
    const [, local, remote, , queues, , retries] = line.trim().split(/\s+/);
    const unacknowledged = Number.parseInt(queues ?? '', 16);
    return unacknowledged > 0 && Number.parseInt(retries, 16) >= retriesOfLost ? [`${local} ${remote}`] : [];
  });
}

/** A connection's ends as the table writes them; an empty text for one that is closed already. */
export function keyOf({ localAddress, localPort, remoteAddress, remotePort }: Ends): string {
  if (localAddress === undefined || remoteAddress === undefined) return '';
  return `${endOf(localAddress, localPort)} ${endOf(remoteAddress, remotePort)}`;
}

/** Addresses are in words of four bytes, each in the order of the machine. */
function endOf(address: string, port = 0): string {
  const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
  if (endianness() === 'LE') bytes.swap32();
  return `${bytes.toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

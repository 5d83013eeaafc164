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
import { errorCode } from '../domain/error-code.ts';

/** Tables of this process's network, by kind of socket. */
const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** How often the oldest bytes were sent again without an answer: after a second and a half, on a fast path. */
const retriesOfSilent = 3;
/** So many looks in a row find a peer silent before it counts as lost: it may only be changing its network. */
const looksOfLost = 3;

type Ends = Partial<Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>>;

/** Looks at the same connections now and then, and remembers which of them are silent. */
export class LostPeers<Connection extends Ends> {
  /** How many looks in a row have found the connection's other side silent. */
  #silentFor = new Map<Connection, number>();

  /** The connections whose other side is lost. */
  async look(connections: readonly Connection[]): Promise<Connection[]> {
    const texts = connections.length === 0 ? [] : await Promise.all(tables.map(readTable));
    return this.judge(connections, texts);
  }

  /** The same, by tables that were read already. */
  judge(connections: readonly Connection[], texts: readonly string[]): Connection[] {
    const unanswered = new Set(texts.flatMap(unansweredIn));
    const silent = connections.filter((connection) => unanswered.has(keyOf(connection)));
    this.#silentFor = new Map(silent.map((connection) => [connection, (this.#silentFor.get(connection) ?? 0) + 1]));
    return silent.filter((connection) => (this.#silentFor.get(connection) ?? 0) >= looksOfLost);
  }
}

/** Empty where there is no such table: another system, or one without this kind of address. */
async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
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
    return unacknowledged > 0 && Number.parseInt(retries, 16) >= retriesOfSilent ? [`${local} ${remote}`] : [];
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

/** A way to a server that can be cut: every connection over it breaks at once, and new ones are taken unless it is down. It can be slow, or lose all that comes. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class CutLine {
  readonly url: string;
  /** Nothing goes over it: new connections break, too. */
  isDown = false;
  /** What comes goes on so much later, ms. */
  delayMs = 0;
  /** New connections are taken and say nothing. */
  #isSilent = false;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(url: string, server: Server, sockets: Set<Socket>) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
  }

  /** `to`: the server's address, as a URL. */
  static async to(to: string): Promise<CutLine> {
    const url = new URL(to);
    const sockets = new Set<Socket>();
    const { hostname, port } = url;
    const server = createServer((near) => {
      near.on('error', () => {}); // `close` follows
      if (line.isDown) return near.destroy();
      const far = connect(Number(port), hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ]) {
        sockets.add(socket);
        socket.on('error', () => {}); // `close` follows
        socket.on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
        socket.on('data', (bytes) => {
          if (line.delayMs === 0) other.write(bytes);
          else setTimeout(() => other.destroyed || other.write(bytes), line.delayMs);
        });
        socket.on('end', () => setTimeout(() => other.end(), line.delayMs));
        if (line.#isSilent) socket.pause();
      }
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('no port');
    url.port = String(address.port);
    const line = new CutLine(url.href, server, sockets);
    return line;
  }

  /** Whatever comes is kept until it is let go on, as by a network that loses everything for a while. */
  set isSilent(silent: boolean) {
    this.#isSilent = silent;
    for (const socket of this.#sockets)
      if (silent) socket.pause();
      else socket.resume();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Binds the server to its address, and says in plain words why that fails. */
import type { AddressInfo } from 'node:net';
import { errorCode } from '../domain/error-code.ts';
import { OperatorError } from '../domain/errors.ts';
import type { HttpApp } from './http-app.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use: stop the program that has it, or set SERVICE_BIND_PORT',
  EACCES: 'this user may not use that port: set SERVICE_BIND_PORT to one above 1023',
  EADDRNOTAVAIL: 'this machine has no such address: set SERVICE_BIND_HOST',
  ENOTFOUND: 'this name has no address: set SERVICE_BIND_HOST',
  EAI_AGAIN: 'this name cannot be looked up now: try again later, or set SERVICE_BIND_HOST to an address',
};

/** Connections that wait to be taken, up to the system's own bound. Where there is no place, a client tries again only after a second. */
const backlog = 4096;

/**
 * Listen on the address. Port 0 takes a free one; the reply has the real one.
 * Errors: OperatorError `listen` with one line that names address, reason and setting.
 */
export async function listen(app: HttpApp, at: { host: string; port: number }): Promise<AddressInfo> {
  try {
    await app.listen({ ...at, backlog });
  } catch (error) {
    const code = String(errorCode(error));
    if (reasons[code] === undefined) throw error;
    throw new OperatorError('listen', `cannot listen on ${at.host} port ${at.port}: ${reasons[code]}`, {
      cause: error,
    });
  }
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return address;
}

/** Binds the server to its address and explains failures; reads the certificate. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSecureContext, type Server as TlsServer } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import { errorCode, errorMessage, OperatorError } from '../domain/errors.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Certificate } from './connection-limits.ts';
import type { HttpApp } from './http-app.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use: stop the program that has it, or set SERVICE_BIND_PORT',
  EACCES: 'this user may not use that port: set SERVICE_BIND_PORT to one above 1023',
  EADDRNOTAVAIL: 'this machine has no such address: set SERVICE_BIND_HOST',
  ENOTFOUND: 'this name has no address: set SERVICE_BIND_HOST',
  EAI_AGAIN: 'this name cannot be looked up now: try again later, or set SERVICE_BIND_HOST to an address',
};

/** Max pending connections, up to the system's limit. Above it a client retries after a second. */
const backlog = 4096;

/** Port 0 selects a free one; the result has it. Errors: OperatorError `listen` with address, reason and setting. */
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

/** Node closes idle connections once. Those that become idle later, or whose requests never end, are closed here. */
const idleCheckMs = 50;

/** Stop; unanswered requests are cut off after `answerWithinMs`. Resolves when every connection is closed. */
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

/** Null without the settings. Errors: OperatorError `listen` for files that cannot be read or do not belong together. */
export function certificateIn({ cert_file, key_file }: Settings['tls']): Certificate | null {
  if (cert_file === null || key_file === null) return null;
  try {
    const certificate = { cert: readFileSync(cert_file), key: readFileSync(key_file) };
    createSecureContext(certificate);
    return certificate;
  } catch (cause) {
    const where = 'SERVICE_TLS__CERT_FILE and SERVICE_TLS__KEY_FILE';
    throw new OperatorError('listen', `the certificate cannot be used: ${errorMessage(cause)}; see ${where}`, {
      cause,
    });
  }
}

/** New connections use a changed certificate. An unusable one, such as without its key, is logged and ignored. */
export function followCertificate(
  server: Server,
  files: Settings['tls'],
  { log, interval = 60_000 }: { log: FastifyBaseLogger; interval?: number | undefined },
): void {
  const read = () => {
    try {
      (server as Server & TlsServer).setSecureContext({ ...certificateIn(files) });
      log.info({}, 'the changed certificate is in use');
    } catch (err) {
      log.warn({ err }, 'the changed certificate is not used');
    }
  };
  const watched = [...new Set([files.cert_file, files.key_file])].filter((file) => file !== null);
  for (const file of watched) watchFile(file, { interval, persistent: false }, read);
  server.once('close', () => {
    for (const file of watched) unwatchFile(file, read);
  });
}

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closing } from '../compute/closing.ts';
import { parsedJson } from '../compute/structures/json-fields.ts';
import type { Scope } from '../domain/access.ts';
import { demoFolderOf } from '../settings/library-folders.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { UnknownVariable } from '../settings/unknown-variables.ts';
import type { StoreView } from '../store/store-view.ts';
import { CliError, type ExitCode, exitCodes, plain, type Terminal } from './output.ts';

export interface Context {
  settings: Settings;
  terminal: Terminal;
  json: boolean;
  url: string | undefined;
  /** `--library`; the settings apply to it. */
  library: string | undefined;
  version: string;
  /** Environment variables that look like settings. */
  unknownVariables: readonly UnknownVariable[];
  /** Checkpoints of imports over HTTP. */
  stateDir: string;
  stdin: AsyncIterable<Buffer> & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  now: () => number;
  monotonic: () => number;
  newId: () => string;
  newToken: () => string;
  signal: AbortSignal;
}

/** What a command over HTTP needs. */
export type ServiceContext = Pick<Context, 'settings' | 'url' | 'terminal' | 'json' | 'signal'>;

export interface ContextOptions {
  warns?: boolean;
}

export function clientOf({ settings, url }: ServiceContext, scope: Scope): ServiceClient {
  return serviceClient(settings, url, scope);
}

/** Read the data folder's store, with or without a running service. Errors: CliError, OperatorError. */
export async function withStore<Result>(
  { settings, url }: Context,
  use: (store: StoreView) => Promise<Result> | Result,
): Promise<Result> {
  if (url !== undefined) {
    throw new CliError(exitCodes.misuse, 'this command reads the data folder; run it without --url');
  }
  const [{ proveStore }, { StoreView }] = await Promise.all([
    import('../store/look-apart.ts'),
    import('../store/store-view.ts'),
  ]);
  await proveStore(settings.data_dir, { isShared: true, wasUsed: false });
  await using view = closing(StoreView.open(settings.data_dir));
  return await use(view);
}

export function get<Reply>(context: ServiceContext, path: string): Promise<Reply> {
  return clientOf(context, 'read').call<Reply>('GET', path, undefined, context.signal);
}

export function post<Reply>(context: ServiceContext, path: string, body?: unknown): Promise<Reply> {
  return clientOf(context, 'write').call<Reply>('POST', path, body, context.signal);
}

/** Deletes what is below a path, with a line for each. */
export async function deleteEach(
  context: Context,
  path: string,
  ids: readonly string[],
  inWords: (id: string) => string,
): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  for (const id of ids) {
    await clientOf(context, 'write').call('DELETE', `${path}/${encodeURIComponent(id)}`, undefined, signal);
    if (!json) terminal.say(inWords(plain(id, 64)));
  }
  if (json) terminal.json({ removed: ids });
  return exitCodes.done;
}

/** Print a reply as JSON, or in words. */
export function tell(
  { terminal, json }: Pick<Context, 'terminal' | 'json'>,
  reply: unknown,
  inWords: (terminal: Terminal) => void,
): ExitCode {
  if (json) terminal.json(reply);
  else inWords(terminal);
  return exitCodes.done;
}

const tokenHint = '\nset SERVICE_AUTH_TOKEN, SERVICE_AUTH_TOKENS or SERVICE_DATA_DIR as for the service';

export class ServiceError extends CliError {
  readonly status: number;
  readonly retryAfterS: number | null;

  constructor(status: number, detail: string, retryAfterS: number | null) {
    super(exitCodes.failed, status === 401 ? detail + tokenHint : detail);
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

export class UnreachableError extends CliError {
  constructor(baseUrl: string, cause: unknown) {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    const why = reason instanceof Error ? ('code' in reason ? String(reason.code) : reason.message) : String(reason);
    super(
      exitCodes.unreachable,
      `no readback answers at ${baseUrl} (${why})\nstart it with \`readback serve\`, or name its address with --url`,
      { cause },
    );
  }
}

export type ServiceClient = ReturnType<typeof serviceClient>;

/** Ms. A refused connection fails at once; a busy service may take this long. */
const lookTimeoutMs = 60_000;
/** Ms. A search during a busy import may take long. */
const callTimeoutMs = 120_000;

function serviceClient(settings: Settings, url: string | undefined, scope: Scope) {
  const baseUrl = (url ?? addressOf(settings)).replace(/(?<!\/)\/+$/, '');
  const call = async <Reply>(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    limitMs = callTimeoutMs,
  ): Promise<Reply> => {
    const token = tokenOf(settings, scope);
    const timeout = AbortSignal.timeout(limitMs);
    let response: Response;
    let text: string;
    try {
      response = await fetch(baseUrl + path, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        redirect: 'error',
      });
      text = await response.text();
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw new UnreachableError(baseUrl, error);
    }
    // Null also if another server answered; the caller reports it.
    const parsed = parsedJson(text);
    if (!response.ok) {
      const retryAfterS = Number(response.headers.get('retry-after')) || null;
      throw new ServiceError(response.status, detailOf(parsed, response.status, text), retryAfterS);
    }
    return parsed as Reply;
  };
  return {
    baseUrl,
    call,
    async isUp() {
      try {
        const response = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(lookTimeoutMs) });
        return response.ok && (parsedJson(await response.text()) as { status?: unknown } | null)?.status === 'ok';
      } catch {
        return false;
      }
    },
  };
}

/** Listening on every address includes loopback. With TLS, the address uses a name of the certificate. */
export function addressOf({ bind_host, bind_port, tls }: Pick<Settings, 'bind_host' | 'bind_port' | 'tls'>): string {
  const own = bind_host === '0.0.0.0' ? '127.0.0.1' : bind_host === '::' ? '::1' : bind_host;
  const host = tls.cert_file === null ? own : certifiedName(tls.cert_file, own);
  return `http${tls.cert_file === null ? '' : 's'}://${host.includes(':') ? `[${host}]` : host}:${bind_port}`;
}

/** A name in the certificate. If the file cannot be read, the request reports why, or `--url` gives another address. */
function certifiedName(certFile: string, own: string): string {
  let subjectAltName = '';
  try {
    subjectAltName = new X509Certificate(readFileSync(certFile)).subjectAltName ?? '';
  } catch {
    return own === '127.0.0.1' || own === '::1' ? 'localhost' : own;
  }
  const names = Array.from(subjectAltName.matchAll(/(?:DNS|IP Address):([^\s,*]+)/g), ([, name]) => name);
  return [own, 'localhost'].find((each) => names.includes(each)) ?? names[0] ?? own;
}

function tokenOf({ secrets, data_dir }: Settings, scope: Scope): string | null {
  const fitting = secrets.tokens.find(({ scopes }) => scopes.includes(scope) || scopes.includes('write'));
  if (fitting !== undefined) return fitting.token;
  if (secrets.tokens.length > 0) return secrets.tokens[0].token;
  // Users without a library may be running the demo.
  return tokenIn(data_dir) ?? tokenIn(demoFolderOf(data_dir));
}

function tokenIn(folder: string): string | null {
  try {
    return readFileSync(join(folder, 'token'), 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES')) return null;
    throw error;
  }
}

/** The error bodies of the contract, as one line. */
function detailOf(body: unknown, status: number, text: string): string {
  if (typeof body !== 'object' || body === null) return `the service answered ${status}: ${text.slice(0, 200)}`;
  if ('pattern' in body) return `${String(body.pattern)} is blocked or was deleted: \`readback forget rules\` lists it`;
  if (!('detail' in body)) return text.slice(0, 200);
  if (typeof body.detail === 'string') return status === 500 ? `the service answered 500: ${body.detail}` : body.detail;
  const issues = Array.isArray(body.detail) ? body.detail : [];
  return issues
    .map(({ loc = [], msg }) => [...loc, msg].filter((part) => part !== 'body').join(': '))
    .join('; ')
    .slice(0, 500);
}

import type { Scope } from '../domain/access.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { UnknownVariable } from '../settings/unknown-variables.ts';
import type { StoreView } from '../store/store-view.ts';
import { CliError, type ExitCode, exitCodes, plain, type Terminal } from './output.ts';
import { type ServiceClient, serviceClient } from './service-client.ts';

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

export interface ContextOptions {
  warns?: boolean;
  /** The library is in the settings. */
  isKnown?: boolean;
}

export function clientOf({ settings, url }: Context, scope: Scope): ServiceClient {
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
  const view = StoreView.open(settings.data_dir);
  try {
    return await use(view);
  } finally {
    await view.close();
  }
}

export function get<Reply>(context: Context, path: string): Promise<Reply> {
  return clientOf(context, 'read').call<Reply>('GET', path, undefined, context.signal);
}

export function post<Reply>(context: Context, path: string, body?: unknown): Promise<Reply> {
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

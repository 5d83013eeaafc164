/** What every command is given: settings, terminal, clock, chance, and the service as it is now. */
import type { Scope } from '../domain/access.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { UnknownVariable } from '../settings/unknown-variables.ts';
import type { StoreView } from '../store/store-view.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { type ServiceClient, serviceClient } from './service-client.ts';
import type { Terminal } from './terminal.ts';

export interface Context {
  settings: Settings;
  terminal: Terminal;
  /** `--json`: the answer is one document for programs. */
  json: boolean;
  /** `--url`: a service elsewhere. */
  url: string | undefined;
  /** `--library`: which of several; the settings are as they are for it. */
  library: string | undefined;
  version: string;
  /** Of the environment: those that look like settings and are none. */
  unknownVariables: readonly UnknownVariable[];
  /** Where imports over HTTP keep how far they are. */
  stateDir: string;
  stdin: AsyncIterable<Buffer> & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  now: () => number;
  monotonic: () => number;
  newId: () => string;
  newToken: () => string;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

export function clientOf({ settings, url }: Context, scope: Scope): ServiceClient {
  return serviceClient(settings, url, scope);
}

/** Read the store of the data folder, beside a running service or without one. Errors: CliError, OperatorError. */
export async function withStore<Result>(
  { settings, url }: Context,
  use: (store: StoreView) => Promise<Result> | Result,
): Promise<Result> {
  if (url !== undefined) {
    throw new CliError(exitCodes.misuse, 'this reads the data folder itself; it cannot be done with --url');
  }
  const [{ proveStore }, { StoreView }] = await Promise.all([
    import('../store/look-apart.ts'),
    import('../store/store-view.ts'),
  ]);
  await proveStore(settings.data_dir, { beside: true, wasUsed: false });
  const view = StoreView.open(settings.data_dir);
  try {
    return await use(view);
  } finally {
    await view.close();
  }
}

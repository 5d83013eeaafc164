/** `readback token new`: makes an access token. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { libraryName, type Scope } from '../../domain/access.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import type { Context } from '../context.ts';

export interface TokenArguments {
  /** Of a named token for SERVICE_AUTH_TOKENS; without one the data folder's own token is replaced. */
  name: string | undefined;
  scope: Scope;
}

export function newTokenCommand(context: Context, { name, scope }: TokenArguments): ExitCode {
  const { settings, terminal, json, library, newToken } = context;
  if (library !== undefined && name === undefined) {
    throw new CliError(exitCodes.misuse, 'a token of a library needs a name: say --name');
  }
  if (library !== undefined && !libraryName.safeParse(library).success) {
    throw new CliError(exitCodes.misuse, `--library ${library}: a name has a to z, 0 to 9, ., _ and - only`);
  }
  const token = newToken();
  if (name !== undefined) {
    const scopes = scope === 'write' ? ['read', 'write'] : ['read'];
    const entry = { name, token, scopes, ...(library !== undefined && { library }) };
    if (json) terminal.json(entry);
    else terminal.say(JSON.stringify(entry));
    terminal.note('add it to the list in SERVICE_AUTH_TOKENS; the service takes it from its next start on');
    return exitCodes.done;
  }
  mkdirSync(settings.data_dir, { recursive: true, mode: 0o700 });
  const path = join(settings.data_dir, 'token');
  const partial = `${path}.${randomUUID()}`;
  writeFileSync(partial, `${token}\n`, { mode: 0o600 });
  renameSync(partial, path);
  if (json) terminal.json({ token_file: path, token });
  else terminal.say(token);
  if (settings.secrets.tokens.length > 0) {
    terminal.note(`it is in ${path}, but not in use: SERVICE_AUTH_TOKEN or SERVICE_AUTH_TOKENS are set`);
  } else terminal.note(`it is in ${path}; the service takes it from now on, and no longer the old one`);
  return exitCodes.done;
}

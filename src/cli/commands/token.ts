/** `readback token new`: creates an access token. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { type codeResponse, libraryName, type Scope } from '../../domain/access.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';

export interface TokenArguments {
  /** Name for SERVICE_AUTH_TOKENS; without one the data folder's token is replaced. */
  name: string | undefined;
  scope: Scope;
}

export function newTokenCommand(context: Context, { name, scope }: TokenArguments): ExitCode {
  const { settings, terminal, json, library, newToken } = context;
  if (library !== undefined && name === undefined) {
    throw new CliError(exitCodes.misuse, 'a library token needs a name: pass --name');
  }
  if (library !== undefined && !libraryName.safeParse(library).success) {
    throw new CliError(exitCodes.misuse, `--library ${library}: names contain only a to z, 0 to 9, ., _ and -`);
  }
  const token = newToken();
  if (name !== undefined) {
    const scopes = scope === 'write' ? ['read', 'write'] : ['read'];
    const entry = { name, token, scopes, ...(library !== undefined && { library }) };
    if (json) terminal.json(entry);
    else terminal.say(JSON.stringify(entry));
    terminal.note('add it to SERVICE_AUTH_TOKENS; the service accepts it after a restart');
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
    terminal.note(`saved in ${path}, but unused: SERVICE_AUTH_TOKEN or SERVICE_AUTH_TOKENS is set`);
  } else terminal.note(`saved in ${path}; the service now accepts it instead of the old one`);
  return exitCodes.done;
}

export async function pairCommand(context: Context): Promise<ExitCode> {
  const { terminal, json } = context;
  const client = clientOf(context, 'write');
  const body = { purpose: 'pair' };
  const { code, expires_at } = await client.call<z.infer<typeof codeResponse>>('POST', '/v1/codes', body);
  if (json) terminal.json({ code, address: client.baseUrl, expires_at });
  else {
    terminal.say(`code     ${terminal.style('bold', code)}`);
    terminal.say(`address  ${client.baseUrl}`);
    terminal.note('type both into the extension within a minute; `readback pair` gives another code');
  }
  return exitCodes.done;
}

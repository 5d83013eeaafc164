/** `readback token`, `pair` and `open`: access tokens and one-time codes. */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { z } from 'zod';
import type { codeResponse, createdTokenResponse, Scope, tokenListResponse } from '../../domain/access.ts';
import { replaceText } from '../../files/durable-file.ts';
import { type Context, clientOf, deleteEach, get, post, tell } from '../context.ts';
import { day, type ExitCode, exitCodes, plain, table } from '../output.ts';

export async function newTokenCommand(context: Context): Promise<ExitCode> {
  const { settings, terminal, newToken } = context;
  const token = newToken();
  mkdirSync(settings.data_dir, { recursive: true, mode: 0o700 });
  const path = join(settings.data_dir, 'token');
  await replaceText(path, `${token}\n`);
  tell(context, { token_file: path, token }, ({ say }) => say(token));
  if (settings.secrets.tokens.length > 0) {
    terminal.note(`saved in ${path}, but unused: SERVICE_AUTH_TOKEN or SERVICE_AUTH_TOKENS is set`);
  } else terminal.note(`saved in ${path}; the service now accepts it instead of the old one`);
  return exitCodes.done;
}

export async function tokensCommand(context: Context): Promise<ExitCode> {
  const found = await get<z.infer<typeof tokenListResponse>>(context, '/v1/tokens');
  return tell(context, found, ({ say }) => {
    const rows = found.tokens.map(({ id, name, scopes, source, created_at, last_used_at }) => [
      id,
      plain(name, 30),
      scopes.includes('write') ? 'write' : 'read',
      `${source}${created_at === null ? '' : ` ${day(created_at)}`}`,
      last_used_at === null ? '-' : day(last_used_at),
    ]);
    for (const line of table([['id', 'name', 'scope', 'source', 'last used'], ...rows])) say(line);
  });
}

export async function addTokenCommand(context: Context, name: string, args: { scope: Scope }): Promise<ExitCode> {
  const body = { name, scopes: [args.scope] };
  const made = await post<z.infer<typeof createdTokenResponse>>(context, '/v1/tokens', body);
  return tell(context, made, ({ say, note }) => {
    say(made.token);
    note(`shown only once; revoke it with \`readback token revoke ${made.id}\``);
  });
}

export const revokeTokensCommand = (context: Context, ids: readonly string[]): Promise<ExitCode> =>
  deleteEach(context, '/v1/tokens', ids, (id) => `revoked ${id}; its sessions have ended`);

export async function pairCommand(context: Context): Promise<ExitCode> {
  const { baseUrl: address } = clientOf(context, 'write');
  const { code, expires_at } = await post<z.infer<typeof codeResponse>>(context, '/v1/codes', { purpose: 'pair' });
  return tell(context, { code, address, expires_at }, (terminal) => {
    terminal.say(`code     ${terminal.style('bold', code)}`);
    terminal.say(`address  ${address}`);
    terminal.note('type both into the extension within 10 minutes; `readback pair` prints another code');
  });
}

export async function openCommand(context: Context, { print = false }: { print?: boolean }): Promise<ExitCode> {
  const { json, settings, stdout } = context;
  const { code, expires_at } = await post<z.infer<typeof codeResponse>>(context, '/v1/codes', { purpose: 'session' });
  const url = `${clientOf(context, 'write').baseUrl}/#code=${code}`;
  tell(context, { url, expires_at }, ({ say, note }) => {
    say(url);
    note('it signs in one browser within a minute');
  });
  const opener = print || json || stdout.isTTY !== true ? null : browserOpener(settings.program_path);
  if (opener !== null) await started(opener, url);
  return exitCodes.done;
}

function browserOpener(path: string): string | null {
  const name = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const found = path.split(delimiter).map((dir) => join(dir, name));
  return found.find((file) => existsSync(file)) ?? null;
}

/** The browser outlives this command. If it cannot start, the link is still printed. */
function started(program: string, url: string): Promise<void> {
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  return new Promise((resolve) => {
    child.once('spawn', resolve).once('error', () => resolve());
    child.unref();
  });
}

/** `readback open`: opens the console in a browser, signed in by a one-time code. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { z } from 'zod';
import type { codeResponse } from '../../domain/access.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';

export interface OpenArguments {
  print: boolean;
}

export async function openCommand(context: Context, { print }: OpenArguments): Promise<ExitCode> {
  const { terminal, json, settings, stdout } = context;
  const client = clientOf(context, 'write');
  const body = { purpose: 'session' };
  const { code, expires_at } = await client.call<z.infer<typeof codeResponse>>('POST', '/v1/codes', body);
  const url = `${client.baseUrl}/#code=${code}`;
  if (json) terminal.json({ url, expires_at });
  else {
    terminal.say(url);
    terminal.note('it signs in one browser within a minute');
  }
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

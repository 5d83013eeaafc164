/** `readback pair`: a code to type into the browser extension. */
import type { z } from 'zod';
import type { codeResponse } from '../../domain/access.ts';
import { type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';

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

#!/usr/bin/env node
/** The `readback` process: arguments, settings, Ctrl-C and exit codes (src/cli/cli-error.ts). */
import { randomBytes, randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CommanderError } from 'commander';
import { DomainError, OperatorError } from '../domain/errors.ts';
import { settingsOfLibrary } from '../settings/library-folders.ts';
import { readSettings, SettingsError } from '../settings/read-settings.ts';
import { unknownVariables, unknownVariableText } from '../settings/unknown-variables.ts';
import { onStopSignal } from '../stop-signal.ts';
import { version } from '../version.ts';
import { CliError, type ExitCode, exitCodes } from './cli-error.ts';
import type { Context, ContextOptions } from './context.ts';
import { createProgram, type GlobalOptions } from './program.ts';
import { columnsOf, helpColumns, openTerminal, type Terminal } from './terminal.ts';

const interruption = new AbortController();
/** The first Ctrl-C stops the command in order; the second kills it. */
function onInterrupt(): void {
  onStopSignal({
    signals: ['SIGINT'],
    stop: () => interruption.abort(new CliError(exitCodes.interrupted, 'interrupted')),
    leave: (signal) => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  });
}

const globals = (): GlobalOptions => program.opts<GlobalOptions>();

let terminal: Terminal | undefined;

/** XDG Base Directory Specification. */
const stateDirOf = ({ XDG_STATE_HOME: set, HOME }: NodeJS.ProcessEnv): string =>
  join(set !== undefined && isAbsolute(set) ? set : join(HOME || homedir(), '.local/state'), 'readback');

function context({ warns = true, isKnown = true }: ContextOptions = {}): Context {
  onInterrupt();
  const { json = false, url, color, library } = globals();
  terminal = openTerminal({
    stdout: process.stdout,
    stderr: process.stderr,
    colors: color && (process.env.NO_COLOR ?? '') === '' && !json,
    monotonic: () => performance.now(),
    columns: columnsOf(process.env),
  });
  const settings = isKnown
    ? settingsOfLibrary(readSettings(process.env), library)
    : readSettings({ ...process.env, SERVICE_LIBRARIES__DIR: '', SERVICE_AUTH_TOKENS: '' });
  const unknown = unknownVariables(process.env);
  if (warns) for (const each of unknown) terminal.note(unknownVariableText(each));
  return {
    settings,
    terminal,
    json,
    url,
    library,
    version,
    unknownVariables: unknown,
    stateDir: stateDirOf(process.env),
    stdin: process.stdin,
    stdout: process.stdout,
    now: Date.now,
    monotonic: () => performance.now(),
    newId: randomUUID,
    newToken: () => randomBytes(32).toString('base64url'),
    signal: interruption.signal,
  };
}

const program = createProgram({
  version,
  helpWidth: helpColumns(process.env, process.stdout),
  errorWidth: columnsOf(process.env) ?? (process.stderr.isTTY ? process.stderr.columns : undefined),
  formats: process.argv.includes('import') ? (await import('../importers/formats.ts')).formatRows : [],
  serve: async ({ demo }) => {
    // The service process parses its own arguments.
    process.argv.splice(2, process.argv.length, ...(demo ? ['--demo'] : []));
    await import('../main.ts');
  },
  run: async (load, name, args, options) => {
    const command = (await load())[name] as (context: Context, ...args: unknown[]) => Promise<ExitCode> | ExitCode;
    const code = await command(context(options), ...(args ?? []));
    terminal?.progress('');
    process.exitCode = code;
  },
});

/** One line for the user; bugs keep their stack. */
function failureOf(error: unknown): { code: ExitCode; message: string } {
  if (error instanceof CliError) return { code: error.exitCode, message: error.message };
  if (error instanceof SettingsError) return { code: exitCodes.misuse, message: error.message };
  if (error instanceof OperatorError)
    return { code: error.code === 'store_damaged' ? exitCodes.damaged : exitCodes.failed, message: error.message };
  const isPlain = error instanceof DomainError || (error instanceof Error && 'code' in error && 'syscall' in error);
  if (isPlain) return { code: exitCodes.failed, message: error.message };
  return { code: exitCodes.failed, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done); // the reader has seen enough
  throw error;
});

try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the error. Help is no error.
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.misuse;
  } else {
    terminal?.progress('');
    const { code, message } = failureOf(error);
    if (process.argv.includes('--json'))
      process.stdout.write(`${JSON.stringify({ error: message, exit_code: code })}\n`);
    const note = terminal?.note ?? ((line) => process.stderr.write(`${line}\n`));
    note(`readback: ${message}`);
    process.exitCode = code;
  }
}

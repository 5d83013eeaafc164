/** One run of `readback`: settings from an environment, output to streams, and an exit code (src/cli/output.ts). */
import { randomBytes, randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CommanderError } from 'commander';
import { DomainError, OperatorError } from '../domain/errors.ts';
import { settingsOfLibrary } from '../settings/library-folders.ts';
import { readSettings, SettingsError } from '../settings/read-settings.ts';
import { unknownVariables, unknownVariableText } from '../settings/unknown-variables.ts';
import { version } from '../version.ts';
import type { Context, ContextOptions } from './context.ts';
import { CliError, columnsOf, type ExitCode, exitCodes, helpColumns, openTerminal, type Terminal } from './output.ts';
import { createProgram, type GlobalOptions } from './program.ts';

type Output = NodeJS.WritableStream & { isTTY: boolean; columns?: number };

export interface RunOptions {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  stdin: Context['stdin'];
  stdout: Output;
  stderr: Output;
  signal: AbortSignal;
  onCommand: () => void;
  serve: (options: { demo: boolean }) => Promise<void>;
}

/** XDG Base Directory Specification. */
const stateDirOf = ({ XDG_STATE_HOME: set, HOME }: NodeJS.ProcessEnv): string =>
  join(set !== undefined && isAbsolute(set) ? set : join(HOME || homedir(), '.local/state'), 'readback');

/** Gives the exit code; undefined for `serve`, which keeps running. */
export async function run({ args, env, stdin, stdout, stderr, signal, onCommand, serve }: RunOptions) {
  let terminal: Terminal | undefined;
  let exitCode: ExitCode | undefined;

  function context({ warns = true }: ContextOptions = {}): Context {
    onCommand();
    const { json = false, url, color, library } = program.opts<GlobalOptions>();
    terminal = openTerminal({
      stdout,
      stderr,
      colors: color && (env.NO_COLOR ?? '') === '' && !json,
      monotonic: () => performance.now(),
      columns: columnsOf(env),
    });
    const settings = settingsOfLibrary(readSettings(env), library);
    const unknown = unknownVariables(env);
    if (warns) for (const each of unknown) terminal.note(unknownVariableText(each));
    return {
      settings,
      terminal,
      json,
      url,
      library,
      version,
      unknownVariables: unknown,
      stateDir: stateDirOf(env),
      stdin,
      stdout,
      now: Date.now,
      monotonic: () => performance.now(),
      newId: randomUUID,
      newToken: () => randomBytes(32).toString('base64url'),
      signal,
    };
  }

  const program = createProgram({
    version,
    helpWidth: helpColumns(env, stdout),
    errorWidth: columnsOf(env) ?? (stderr.isTTY ? stderr.columns : undefined),
    formats: args.includes('import') ? (await import('../importers/formats.ts')).formatRows : [],
    output: { writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) },
    serve,
    run: async (load, name, given, options) => {
      const command = (await load())[name] as (context: Context, ...args: unknown[]) => Promise<ExitCode> | ExitCode;
      exitCode = await command(context(options), ...(given ?? []));
      terminal?.progress('');
    },
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed the error. Asking for help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misuse;
    terminal?.progress('');
    const { code, message } = failureOf(signal.aborted ? signal.reason : error);
    if (args.includes('--json')) stdout.write(`${JSON.stringify({ error: message, exit_code: code })}\n`);
    const note = terminal?.note ?? ((line: string) => stderr.write(`${line}\n`));
    note(`readback: ${message}`);
    return code;
  }
}

/** One line for the user. Bugs keep their stack. */
function failureOf(error: unknown): { code: ExitCode; message: string } {
  if (error instanceof CliError) return { code: error.exitCode, message: error.message };
  if (error instanceof SettingsError) return { code: exitCodes.misuse, message: error.message };
  if (error instanceof OperatorError)
    return { code: error.code === 'store_damaged' ? exitCodes.damaged : exitCodes.failed, message: error.message };
  const isPlain = error instanceof DomainError || (error instanceof Error && 'code' in error && 'syscall' in error);
  if (isPlain) return { code: exitCodes.failed, message: error.message };
  return { code: exitCodes.failed, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

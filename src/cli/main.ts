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
import { type Context, withStore } from './context.ts';
import { type Actions, createProgram, type GlobalOptions } from './program.ts';
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

/** `warns`: warn about unknown variables. `isKnown`: the library is in the settings. */
function context({ warns = true, isKnown = true } = {}): Context {
  onInterrupt();
  const { json = false, url, color, library } = globals();
  const settings = isKnown
    ? settingsOfLibrary(readSettings(process.env), library)
    : readSettings({ ...process.env, SERVICE_LIBRARIES__DIR: '', SERVICE_AUTH_TOKENS: '' });
  terminal = openTerminal({
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    colors: color && (process.env.NO_COLOR ?? '') === '' && !json,
    monotonic: () => performance.now(),
    columns: columnsOf(process.env),
  });
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
  formats: process.argv.includes('import') ? (await import('../importers/formats.ts')).formatRows : [],
  ended: (code) => {
    terminal?.progress('');
    process.exitCode = code;
  },
  actions: {
    serve: async ({ demo }) => {
      // The service process parses its own arguments.
      process.argv.splice(2, process.argv.length, ...(demo ? ['--demo'] : []));
      await import('../main.ts');
    },
    // Commands load their modules lazily: loading all takes a second.
    open: async (args) => (await import('./commands/open.ts')).openCommand(context(), args),
    pair: async () => (await import('./commands/token.ts')).pairCommand(context()),
    add: async (...given) => (await import('./commands/add.ts')).addCommand(context(), ...given),
    search: async (...given) => (await import('./commands/search.ts')).searchCommand(context(), ...given),
    pages: async (...given) => (await import('./commands/pages.ts')).pagesCommand(context(), ...given),
    page: async (...given) => (await import('./commands/pages.ts')).pageCommand(context(), ...given),
    forget: async (...given) => (await import('./commands/forget.ts')).forgetCommand(context(), ...given),
    rules: async () => (await import('./commands/forget.ts')).rulesCommand(context()),
    allow: async (...given) => (await import('./commands/forget.ts')).allowCommand(context(), ...given),
    watches: async () => (await import('./commands/watch.ts')).watchesCommand(context()),
    addWatch: async (...given) => (await import('./commands/watch.ts')).addWatchCommand(context(), ...given),
    removeWatches: async (...given) => (await import('./commands/watch.ts')).removeWatchesCommand(context(), ...given),
    runWatches: async (...given) => (await import('./commands/watch.ts')).runWatchesCommand(context(), ...given),
    enableWatches: async (...given) => (await import('./commands/watch.ts')).enableWatchesCommand(context(), ...given),
    models: async () => (await import('./commands/models.ts')).modelsCommand(context()),
    knownModels: async () => (await import('./commands/models.ts')).knownModelsCommand(context()),
    knownModel: async (...given) => (await import('./commands/models.ts')).knownModelCommand(context(), ...given),
    addModel: async (...given) => (await import('./commands/models.ts')).addModelCommand(context(), ...given),
    fillModel: async (...given) => (await import('./commands/models.ts')).fillModelCommand(context(), ...given),
    useModel: async (...given) => (await import('./commands/models.ts')).useModelCommand(context(), ...given),
    pauseFill: async (...given) => (await import('./commands/models.ts')).pauseFillCommand(context(), ...given),
    removeModel: async (...given) => (await import('./commands/models.ts')).removeModelCommand(context(), ...given),
    topics: async () => (await import('./commands/names.ts')).topicsCommand(context()),
    topic: async (...given) => (await import('./commands/names.ts')).topicCommand(context(), ...given),
    findTopics: async () => (await import('./commands/names.ts')).findTopicsCommand(context()),
    name: async (...given) => (await import('./commands/names.ts')).nameCommand(context(), ...given),
    namesOfPage: async (...given) => (await import('./commands/names.ts')).namesOfPageCommand(context(), ...given),
    merges: async (...given) => (await import('./commands/names.ts')).mergesCommand(context(), ...given),
    suggestions: async () => (await import('./commands/names.ts')).suggestionsCommand(context()),
    decideMerge: async (...given) => (await import('./commands/names.ts')).decideCommand(context(), ...given),
    splitMerge: async (...given) => (await import('./commands/names.ts')).splitMergeCommand(context(), ...given),
    status: async () => (await import('./commands/status.ts')).statusCommand(context()),
    jobs: async (...given) => (await import('./commands/jobs.ts')).jobsCommand(context(), ...given),
    retry: async (...given) => (await import('./commands/jobs.ts')).retryCommand(context(), ...given),
    inspect: async (...given) => (await import('./commands/inspect.ts')).inspectCommand(context(), ...given),
    doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(context({ warns: false })),
    fsck: fsckCommand,
    import: async (...given) => (await import('./commands/import.ts')).importCommand(context(), ...given),
    export: async (...given) => (await import('./commands/export.ts')).exportCommand(context(), ...given),
    backup: async (...given) => (await import('./commands/backup.ts')).backupCommand(context(), ...given),
    restore: async (...given) => (await import('./commands/backup.ts')).restoreCommand(context(), ...given),
    cluster: async (...given) => (await import('./commands/cluster.ts')).clusterCommand(context(), ...given),
    libraries: async () => (await import('./commands/cluster.ts')).clusterCommand(context(), 'status'),
    library: async (...given) => (await import('./commands/cluster.ts')).libraryCommand(context(), ...given),
    newToken: async (args) => {
      // The token may be the first of a library.
      const given = context({ isKnown: args.name === undefined });
      return (await import('./commands/token.ts')).newTokenCommand(given, args);
    },
  },
});

/** Checks first for a running service, to end like other commands. */
async function fsckCommand({ repair, full, seed }: Parameters<Actions['fsck']>[0]): Promise<ExitCode> {
  const given = context();
  await withStore(given, () => undefined); // there is something to prove
  const { withStoppedFolder } = await import('./stopped-folder.ts');
  await withStoppedFolder(given, 'fsck', async () => undefined);
  const { settings, terminal: to, newId, now, json } = given;
  const { runFsck } = await import('../fsck/run-fsck.ts');
  const lines: string[] = [];
  const say = (line: string) => (json ? lines.push(line) : to.say(line));
  const sound = await runFsck({ settings, repair, full, seed: seed ?? now() % 2 ** 31, say, newId, now });
  if (json) to.json({ sound, report: lines });
  return sound ? exitCodes.done : exitCodes.failed;
}

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
    process.stderr.write(`readback: ${message}\n`);
    process.exitCode = code;
  }
}

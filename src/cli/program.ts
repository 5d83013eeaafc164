/** The command line of `readback`: names, arguments, options and their texts. What the commands do is handed in. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ImportFormat, importFormats } from '../domain/import.ts';
import { type JobKind, type JobStatus, jobKinds, jobStatuses } from '../domain/job.ts';
import { formatRows } from '../importers/formats.ts';
import { type ExitCode, exitMeanings } from './cli-error.ts';
import type { AddArguments } from './commands/add.ts';
import type { ExportArguments } from './commands/export.ts';
import type { ImportArguments } from './commands/import.ts';
import type { JobsArguments, RetryArguments } from './commands/jobs.ts';
import type { OpenArguments } from './commands/open.ts';
import type { SearchArguments } from './commands/search.ts';
import type { TokenArguments } from './commands/token.ts';

export interface GlobalOptions {
  json: boolean;
  url: string | undefined;
  library: string | undefined;
  color: boolean;
}

export interface Actions {
  serve(options: { demo: boolean }): Promise<void>;
  open(args: OpenArguments): Promise<ExitCode>;
  pair(): Promise<ExitCode>;
  add(urls: string[], args: AddArguments): Promise<ExitCode>;
  search(words: string[], args: SearchArguments): Promise<ExitCode>;
  status(): Promise<ExitCode>;
  jobs(args: JobsArguments): Promise<ExitCode>;
  retry(ids: string[], args: RetryArguments): Promise<ExitCode>;
  inspect(kind: 'job' | 'page', id: string): Promise<ExitCode>;
  doctor(): Promise<ExitCode>;
  fsck(options: { repair: boolean }): Promise<ExitCode>;
  import(path: string, args: ImportArguments): Promise<ExitCode>;
  export(path: string, args: ExportArguments): Promise<ExitCode>;
  backup(dir: string): Promise<ExitCode>;
  restore(dir: string, options: { replace: boolean }): Promise<ExitCode>;
  newToken(args: TokenArguments): Promise<ExitCode>;
}

export interface ProgramOptions {
  version: string;
  actions: Actions;
  /** Called with the exit code of the command that ran. */
  ended: (code: ExitCode) => void;
  /** Columns of the help texts. */
  helpWidth: number;
}

/** A program that throws CommanderError instead of ending the process. */
export function createProgram({ version, actions, ended, helpWidth }: ProgramOptions): Command {
  const program = new Command('readback')
    .description('A self-hosted index of everything you have read.')
    .version(version, '--version', 'print the version')
    .helpOption('--help', 'print what can be said to a command')
    .helpCommand('help [command]', 'the same for a command')
    .option('--json', 'answer with one JSON document, for programs')
    .option('--url <address>', 'a service elsewhere than the settings say', serviceAddress)
    .option('--library <name>', 'which one, where there are several')
    .option('--no-color', 'no colours (NO_COLOR does the same)')
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true, helpWidth })
    .exitOverride()
    .addHelpText('after', () => helpEnd);
  const command = (nameAndArguments: string, description: string) =>
    program.command(nameAndArguments).description(description);
  const run = (work: Promise<ExitCode> | ExitCode) => Promise.resolve(work).then(ended);

  command('serve', 'run the service in the foreground, as `npm start` does')
    .option('--demo', 'in a data folder of its own, with sample pages and a search')
    .action(({ demo = false }) => actions.serve({ demo }));

  command('open', 'the console in a browser, by a link that works once, for a minute')
    .option('--print', 'show the link, start no browser')
    .action(({ print = false }) => run(actions.open({ print })));

  command('pair', 'a code for the browser extension, which works once, for a minute').action(() => run(actions.pair()));

  command('add', 'hand pages in; the service fetches those that come without text')
    .argument('<url...>', 'addresses; - reads them from standard input, one a line')
    .option('--title <text>', 'title of the page (one address only)')
    .option('--html <file>', 'the page as HTML (one address only; - is standard input)')
    .option('--text <file>', 'its readable text (one address only; - is standard input)')
    .option('--source <label>', 'label of where it comes from', 'cli')
    .option('--wait', 'until the pages are indexed')
    .action((urls, { title, html, text, source, wait = false }) =>
      run(actions.add(urls, { title, html, text, source, wait })),
    );

  command('search', 'find passages of what was read')
    .argument('<words...>', 'what to look for')
    .option('-k <number>', 'pages to show', integer(1, 100), 10)
    .option('--domain <name>', 'only of this domain and those below it')
    .option('--after <date>', 'only seen at this date or later', date)
    .option('--before <date>', 'only first seen before this date', date)
    .option('--no-rerank', 'in the order before reranking')
    .action((words, { k, domain, after = null, before = null, rerank }) =>
      run(actions.search(words, { k, domain, after, before, rerank })),
    );

  command('status', 'whether the service runs, and what the data folder holds').action(() => run(actions.status()));

  const jobs = command('jobs', 'list jobs and what they are about, newest first')
    .addOption(new Option('--status <status>', 'only of this status').choices(jobStatuses))
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(jobKinds))
    .option('--limit <number>', 'how many at most (20; retry: all)', integer(1, 1_000_000))
    .action(({ status, kind, limit = 20 }: { status?: JobStatus; kind?: JobKind; limit?: number }) =>
      run(actions.jobs({ status, kind, limit })),
    );
  jobs
    .command('retry')
    .description('send dead jobs back to work: these, or all that are dead')
    .argument('[id...]', 'jobs')
    .action((ids: string[], _options, self: Command) => {
      const {
        status = 'dead',
        kind,
        limit,
      } = self.optsWithGlobals<{ status?: JobStatus; kind?: JobKind; limit?: number }>();
      if (status !== 'dead')
        self.error('error: only dead jobs can be sent back; failed ones are tried again by themselves');
      return run(actions.retry(ids, { kind, limit }));
    });

  command('inspect', 'a stored row, its history, and the events that its state accepts next')
    .addArgument(new Argument('<kind>', 'what to look at').choices(['job', 'page']))
    .argument('<id>', 'such as jb_00000001 or pg_00000001')
    .action((kind, id) => run(actions.inspect(kind, id)));

  command('doctor', 'check that everything the service needs is there').action(() => run(actions.doctor()));

  command('fsck', 'prove a stopped data folder: store and index, one to one')
    .option('--repair', 'mend what is not sound, build faulty index files again, and prove it once more')
    .action(({ repair = false }) => run(actions.fsck({ repair })));

  command('import', 'bring in bookmarks, histories, read-it-later lists or an export of readback')
    .argument('<file>', 'a file, the folder of an Omnivore export, or - for standard input')
    .addOption(new Option('--format <name>', 'which of the formats below it is').argParser(importFormat))
    .option('--dry-run', 'say what would go in; write nothing')
    .option('--since <date>', 'only what was visited or saved at this date or later', date)
    .option('--min-visits <number>', 'histories: only addresses with so many visits', integer(1, 1_000_000), 1)
    .option('--source <label>', 'label of where the pages come from (import:FORMAT)')
    .option('--again', 'from the beginning, though it was imported before: visits count once more')
    .option('--retry-failed', 'only the items that failed')
    .option('--offline', 'straight into the data folder of a stopped service')
    .addHelpText('after', () => formatsHelp)
    .action((file: string, options: ImportFlags) =>
      run(
        actions.import(file, {
          format: options.format ?? null,
          dryRun: options.dryRun ?? false,
          since: options.since ?? null,
          minVisits: options.minVisits,
          source: options.source ?? null,
          again: options.again ?? false,
          retryFailed: options.retryFailed ?? false,
          offline: options.offline ?? false,
        }),
      ),
    );

  command('export', 'write everything that a person put in: pages, rules, watches, feedback')
    .argument('<file>', 'a file, or - for standard output')
    .option('--vectors', 'with the vectors of the passages')
    .option('--force', 'write over a file that is there')
    .action((file, { vectors = false, force = false }) => run(actions.export(file, { vectors, force })));

  command('backup', 'copy the store, compacted, while the service runs or not')
    .argument('<dir>', 'a new or empty folder')
    .action((dir) => run(actions.backup(dir)));

  command('restore', 'put a backup into the data folder; the service has to be stopped')
    .argument('<dir>', 'the folder of a backup')
    .option('--replace', 'though there is a store; it is kept beside')
    .action((dir, { replace = false }) => run(actions.restore(dir, { replace })));

  command('token', 'access tokens')
    .command('new')
    .description("make a token: the data folder's own, or a named one for SERVICE_AUTH_TOKENS")
    .option('--name <name>', 'a named token: printed, not kept')
    .addOption(new Option('--scope <scope>', 'what a named token may do').choices(['read', 'write']).default('write'))
    .action(({ name, scope }) => run(actions.newToken({ name, scope })));

  for (const each of everyCommand(program)) {
    each.helpOption('--help', 'print this').configureHelp({ showGlobalOptions: true, helpWidth }).exitOverride();
  }
  return program;
}

interface ImportFlags {
  format?: ImportFormat;
  dryRun?: boolean;
  since?: number;
  minVisits: number;
  source?: string;
  again?: boolean;
  retryFailed?: boolean;
  offline?: boolean;
}

/** Every command below the program, in their order, with those inside them. */
export function everyCommand(program: Command): Command[] {
  return program.commands.flatMap((each) => [each, ...everyCommand(each)]);
}

const helpEnd = `
Settings come from environment variables (docs/settings.md): the data folder
from SERVICE_DATA_DIR, the service's address from SERVICE_BIND_HOST and
SERVICE_BIND_PORT, the token from SERVICE_AUTH_TOKEN, SERVICE_AUTH_TOKENS or the
file \`token\` in the data folder.

Exit codes:
${exitMeanings.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`).join('\n')}`;

const formatsHelp = `
Formats, told by the content of the file; --format names one where it is not:
${importFormats.flatMap((format) => linesOf(format)).join('\n')}`;

function linesOf(format: ImportFormat): string[] {
  const rows = formatRows.filter((row) => row.format === format);
  return rows.map(({ from }, at) => `  ${(at === 0 ? format : '').padEnd(18)}  ${from}`);
}

function importFormat(text: string): ImportFormat {
  const format = importFormats.find((each) => each === text);
  if (format === undefined) throw new InvalidArgumentError(`Allowed choices are ${importFormats.join(', ')}.`);
  return format;
}

function serviceAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    (url?.protocol === 'http:' || url?.protocol === 'https:') &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '');
  if (!isPlain) throw new InvalidArgumentError('It must be an http or https address such as http://127.0.0.1:8000.');
  return text;
}

function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** A day (UTC) or a datetime; ms. */
function date(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d(T.*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  const isDay =
    !Number.isNaN(ms) && new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
  if (!isDay) throw new InvalidArgumentError('It must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  return ms;
}

/** The command line of `readback`: names, arguments, options and their texts. What the commands do is handed in. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ImportFormat, importFormats } from '../domain/import.ts';
import { type JobKind, type JobStatus, jobKinds, jobStatuses } from '../domain/job.ts';
import { type PageStatus, pageStatuses } from '../domain/page.ts';
import { mostPages } from '../domain/search.ts';
import { maxIntervalHours, type WatchKind, watchKind } from '../domain/watch.ts';
import type { FormatRow } from '../importers/formats.ts';
import { type ExitCode, exitMeanings } from './cli-error.ts';
import type { AddArguments } from './commands/add.ts';
import type { LibraryArguments, LibraryTask } from './commands/cluster.ts';
import type { ExportArguments } from './commands/export.ts';
import type { ForgetArguments } from './commands/forget.ts';
import type { ImportArguments } from './commands/import.ts';
import type { JobsArguments, RetryArguments } from './commands/jobs.ts';
import type { AddModelArguments } from './commands/models.ts';
import type { OpenArguments } from './commands/open.ts';
import type { PagesArguments } from './commands/pages.ts';
import type { SearchArguments } from './commands/search.ts';
import type { TokenArguments } from './commands/token.ts';
import type { TryModelArguments } from './commands/try-model.ts';
import type { WatchArguments } from './commands/watch.ts';

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
  pages(args: PagesArguments): Promise<ExitCode>;
  page(named: string, options: { text: boolean }): Promise<ExitCode>;
  forget(named: string[], args: ForgetArguments): Promise<ExitCode>;
  rules(): Promise<ExitCode>;
  allow(ids: string[]): Promise<ExitCode>;
  watches(): Promise<ExitCode>;
  addWatch(url: string, args: WatchArguments): Promise<ExitCode>;
  removeWatches(ids: string[]): Promise<ExitCode>;
  runWatches(ids: string[]): Promise<ExitCode>;
  enableWatches(ids: string[], enabled: boolean): Promise<ExitCode>;
  topics(): Promise<ExitCode>;
  topic(id: string, options: { limit: number }): Promise<ExitCode>;
  findTopics(): Promise<ExitCode>;
  name(name: string, options: { limit: number }): Promise<ExitCode>;
  namesOfPage(page: string): Promise<ExitCode>;
  merges(): Promise<ExitCode>;
  undoMerge(id: string): Promise<ExitCode>;
  models(): Promise<ExitCode>;
  knownModels(): Promise<ExitCode>;
  knownModel(name: string): Promise<ExitCode>;
  addModel(name: string, args: AddModelArguments): Promise<ExitCode>;
  tryModel(name: string, args: TryModelArguments): Promise<ExitCode>;
  fillModel(id: string, options: { yes: boolean }): Promise<ExitCode>;
  useModel(id: string): Promise<ExitCode>;
  removeModel(id: string): Promise<ExitCode>;
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
  cluster(what: 'migrate' | 'status'): Promise<ExitCode>;
  libraries(): Promise<ExitCode>;
  library(what: LibraryTask, name: string, args?: LibraryArguments): Promise<ExitCode>;
}

export interface ProgramOptions {
  version: string;
  actions: Actions;
  /** Called with the exit code of the command that ran. */
  ended: (code: ExitCode) => void;
  /** Columns of the help texts. */
  helpWidth: number;
  /** Those that the help of `import` tells: to load them costs as much as most commands. */
  formats: readonly FormatRow[];
}

/** A program that throws CommanderError instead of ending the process. */
export function createProgram({ version, actions, ended, helpWidth, formats }: ProgramOptions): Command {
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
    .option('-k <number>', 'pages to show', integer(1, mostPages), 10)
    .option('--domain <name>', 'only of this domain and those below it')
    .option('--after <date>', 'only seen at this date or later', date)
    .option('--before <date>', 'only first seen before this date', date)
    .option('--no-rerank', 'in the order before reranking')
    .action((words, { k, domain, after = null, before = null, rerank }) =>
      run(actions.search(words, { k, domain, after, before, rerank })),
    );

  addReading(command, actions, run);

  addModels(command, actions, run);

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
    .addHelpText('after', () => formatsHelp(formats))
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

  addCluster(command, actions, run);

  for (const each of everyCommand(program)) {
    each.helpOption('--help', 'print this').configureHelp({ showGlobalOptions: true, helpWidth }).exitOverride();
  }
  return program;
}

type NewCommand = (nameAndArguments: string, description: string) => Command;
type Run = (work: Promise<ExitCode>) => Promise<void>;

/** Commands about what was read: pages, what is forgotten, watches, topics, names. */
function addReading(command: NewCommand, actions: Actions, run: Run): void {
  const pages = command('pages', 'list what was read, newest first')
    .option('--domain <name>', 'only of this domain and those below it')
    .option('--after <date>', 'only seen at this date or later', date)
    .option('--before <date>', 'only first seen before this date', date)
    .addOption(new Option('--status <status>', 'only of this status').choices(pageStatuses))
    .option('--limit <number>', 'how many at most', integer(1, 1_000_000), 20)
    .action(({ domain, after = null, before = null, status, limit }: PagesFlags) =>
      run(actions.pages({ domain, after, before, status, limit })),
    );
  inside(pages, 'show <page>', 'what is known of one page: by its id, or by its address')
    .option('--text', 'and its text')
    .action((page, { text = false }) => run(actions.page(page, { text })));

  const forget = command('forget', 'erase pages for good, and take them in no more')
    .argument('<what...>', 'ids of pages, or addresses')
    .option('--domain', 'these are domains: all their pages, and those of all below them')
    .option('--reason <text>', 'kept with the rule')
    .option('--yes', 'with --domain: do it; else it is only said how many pages that are')
    .action((what, { domain = false, reason, yes = false }) => run(actions.forget(what, { domain, reason, yes })));
  inside(forget, 'rules', 'what was forgotten and is not taken in again, newest first').action(() =>
    run(actions.rules()),
  );
  inside(forget, 'allow <rule...>', 'take rules away: their targets may be added again').action((ids) =>
    run(actions.allow(ids)),
  );

  const watch = command('watch', 'list sources that are polled for new pages').action(() => run(actions.watches()));
  inside(watch, 'add <address>', 'watch a feed, a channel of videos or a podcast')
    .addOption(new Option('--kind <kind>', 'what it is').choices(watchKind.options).default('rss'))
    .option('--title <text>', 'what to call it')
    .option('--every <hours>', 'how often it is polled', integer(1, maxIntervalHours))
    .action((url: string, { kind, title, every }: { kind: WatchKind; title?: string; every?: number }) =>
      run(actions.addWatch(url, { kind, title, hours: every })),
    );
  inside(watch, 'remove <watch...>', 'watch no more; the pages stay').action((ids) => run(actions.removeWatches(ids)));
  inside(watch, 'run <watch...>', 'poll now').action((ids) => run(actions.runWatches(ids)));
  inside(watch, 'pause <watch...>', 'poll no more until resumed').action((ids) =>
    run(actions.enableWatches(ids, false)),
  );
  inside(watch, 'resume <watch...>', 'poll again').action((ids) => run(actions.enableWatches(ids, true)));

  const topics = command('topics', 'list what was read about, the largest topic first').action(() =>
    run(actions.topics()),
  );
  inside(topics, 'show <topic>', 'the pages of a topic, the most typical first')
    .option('--limit <number>', 'how many at most', integer(1, 500), 20)
    .action((id, { limit }) => run(actions.topic(id, { limit })));
  inside(topics, 'find', 'find the topics anew').action(() => run(actions.findTopics()));

  const names = command('names', 'persons, places and things that pages mention')
    .argument('<name>', 'a name, another spelling of it, or an id')
    .option('--limit <number>', 'pages to show', integer(1, 1000), 20)
    .action((name, { limit }) => run(actions.name(name, { limit })));
  inside(names, 'of <page>', 'the names in a page, in their order: by its id, or by its address').action((page) =>
    run(actions.namesOfPage(page)),
  );
  inside(names, 'merges', 'names that were put together as one, newest first').action(() => run(actions.merges()));
  inside(names, 'undo <merge>', 'take the latest merge of two names back').action((id) => run(actions.undoMerge(id)));
}

function inside(parent: Command, nameAndArguments: string, description: string): Command {
  return parent.command(nameAndArguments).description(description);
}

/** Commands about embedding models (docs/models.md). */
function addModels(command: NewCommand, actions: Actions, run: Run): void {
  const model = command('model', 'embedding models: which there are, and which answers').action(() =>
    run(actions.models()),
  );
  inside(model, 'list', 'models that are registered; the active one is marked')
    .option('--known', 'models that are worth a look instead, with what is published of them')
    .action(({ known = false }) => run(known ? actions.knownModels() : actions.models()));
  inside(model, 'show <name>', 'what is known of a model of that list').action((name) => run(actions.knownModel(name)));
  inside(model, 'try <name>', 'make a model ready beside the one that answers, compare both, and switch if you want to')
    .option('--yes', 'ask nothing; switch only where it is shown to be better')
    .option('--queries <number>', 'queries to compare by', integer(20, 2000), 200)
    .option('--dim <number>', 'shorter vectors, of a known model that gives them', integer(1, 8192))
    .option('--again', 'compare anew, though it was done within a day')
    .addHelpText('after', () => tryHelp)
    .action((name, { yes = false, queries, dim, again = false }) =>
      run(actions.tryModel(name, { yes, queries, dim, again })),
    );
  inside(model, 'add <name>', 'register a known model; or any, by what its provider calls it')
    .option('--provider <name>', 'ollama, tei, transformers, openai and so on: docs/providers.md')
    .option('--dim <number>', 'dimensions of its vectors', integer(1, 8192))
    .option('--max-tokens <number>', 'tokens that it reads at most', integer(1, 10_000_000))
    .action((name, { provider, dim, maxTokens }) => run(actions.addModel(name, { provider, dim, tokens: maxTokens })));
  inside(model, 'fill <model>', 'what making its vectors takes; with --yes, make them')
    .option('--yes', 'begin, and wait for the end; stopped and said again, it goes on')
    .action((id, { yes = false }) => run(actions.fillModel(id, { yes })));
  inside(model, 'use <model>', 'search by it from now on').action((id) => run(actions.useModel(id)));
  inside(model, 'remove <model>', 'delete it with its vectors').action((id) => run(actions.removeModel(id)));
}

/** Commands for who runs libraries on PostgreSQL (docs/cluster.md). */
function addCluster(command: NewCommand, actions: Actions, run: Run): void {
  const cluster = command('cluster', 'libraries on PostgreSQL: the tables and who serves what').action(() =>
    run(actions.cluster('status')),
  );
  cluster
    .command('init')
    .alias('migrate')
    .description('make the tables, or bring them to this version')
    .action(() => run(actions.cluster('migrate')));
  cluster
    .command('status')
    .description('every library, the host that serves it, and its size')
    .action(() => run(actions.cluster('status')));

  const library = command('library', 'libraries on PostgreSQL, one by one').action(() => run(actions.libraries()));
  const one = (nameAndArguments: string, description: string) =>
    library.command(nameAndArguments).description(description);
  one('list', 'as `cluster status`').action(() => run(actions.libraries()));
  const withToken = (given: Command) =>
    given
      .option('--name <name>', 'of its token', 'first')
      .addOption(new Option('--scope <scope>', 'what the token may do').choices(['read', 'write']).default('write'));
  withToken(one('new <library>', 'a new, empty library, and a token of it')).action((name, args) =>
    run(actions.library('new', name, args)),
  );
  withToken(one('token <library>', 'one more token of a library')).action((name, args) =>
    run(actions.library('token', name, args)),
  );
  one('move <library>', 'take it from the host that serves it: the next that is asked serves it').action((name) =>
    run(actions.library('move', name)),
  );
  one('suspend <library>', 'no host serves it').action((name) => run(actions.library('suspend', name)));
  one('resume <library>', 'serve it again').action((name) => run(actions.library('resume', name)));
  one('quota <library>', 'how large it may become; pages are refused beyond, and forgetting goes on')
    .argument('<size>', '`none`, or a size: 500MB, 20GB', sizeOrNone)
    .action((name, maxBytes) => run(actions.library('quota', name, { maxBytes })));
  one('delete <library>', 'its rows and tokens go at once')
    .option('--yes', 'do it')
    .action((name, args) => run(actions.library('delete', name, args)));
  one(
    'export <library> <dir>',
    'as it is at this moment, into a new data folder for a service without a cluster',
  ).action((name, dir) => run(actions.library('export', name, { dir })));
  withToken(one('import <library> <dir>', 'a new library from the data folder of a stopped service')).action(
    (name, dir, args) => run(actions.library('import', name, { ...args, dir })),
  );
}

interface PagesFlags {
  domain?: string;
  after?: number | null;
  before?: number | null;
  status?: PageStatus;
  limit: number;
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

const tryHelp = `
A model of \`readback model list --known\`, or one that is registered. Each step is
told and asked for; said again after an interruption, it goes on where it was.
docs/models.md, "Try one", says what is compared.`;

function formatsHelp(formats: readonly FormatRow[]): string {
  const lines = importFormats.flatMap((format) =>
    formats
      .filter((row) => row.format === format)
      .map(({ from }, at) => `  ${(at === 0 ? format : '').padEnd(18)}  ${from}`),
  );
  return `
Formats, told by the content of the file; --format names one where it is not:
${lines.join('\n')}`;
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

const unitBytes: Readonly<Record<string, number>> = { '': 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** Bytes; null for none. */
function sizeOrNone(text: string): number | null {
  if (text === 'none') return null;
  const [, count, unit] = /^(\d+(?:\.\d+)?) ?((?:[KMGT]?B)?)$/i.exec(text) ?? [];
  const bytes = Math.round(Number(count) * unitBytes[unit?.toUpperCase()]);
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new InvalidArgumentError('It must be `none`, or a size such as 500MB or 20GB.');
}

/** A day (UTC) or a datetime; ms. */
function date(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d(T.*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  const isDay =
    !Number.isNaN(ms) && new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
  if (!isDay) throw new InvalidArgumentError('It must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  return ms;
}

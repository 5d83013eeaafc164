/** The command line of `readback`: names, arguments, options and help texts. */
import { Argument, Command, InvalidArgumentError, Option, type OutputConfiguration } from 'commander';
import { type ImportFormat, importFormats } from '../domain/import.ts';
import { jobKinds, jobStatuses } from '../domain/job.ts';
import { pageStatuses } from '../domain/page.ts';
import { operatorHelp } from '../domain/query-clause.ts';
import { maxPages, searchSorts } from '../domain/search.ts';
import { maxIntervalHours, watchKind } from '../domain/watch.ts';
import type { FormatRow } from '../importers/formats.ts';
import type { LibraryTask } from './commands/cluster.ts';
import { type Shell, shells } from './completion.ts';
import type { ContextOptions } from './context.ts';
import { exitMeanings, folded } from './output.ts';

export interface GlobalOptions {
  json: boolean;
  url: string | undefined;
  library: string | undefined;
  color: boolean;
}

type RunCommand = <Module>(
  load: () => Promise<Module>,
  name: keyof Module,
  args: readonly unknown[],
  options?: ContextOptions,
) => Promise<void>;

/** An action: calls a command with `first`, then the given arguments and options. */
type Runs = <Module>(
  load: () => Promise<Module>,
  name: keyof Module,
  ...first: readonly unknown[]
) => (...given: unknown[]) => Promise<void>;

/** Loaded on demand, as loading all commands takes a second. */
const load = {
  add: () => import('./commands/add.ts'),
  ask: () => import('./commands/ask.ts'),
  backup: () => import('./commands/backup.ts'),
  cluster: () => import('./commands/cluster.ts'),
  demo: () => import('./commands/demo.ts'),
  doctor: () => import('./commands/doctor.ts'),
  export: () => import('./commands/export.ts'),
  forget: () => import('./commands/forget.ts'),
  import: () => import('./commands/import.ts'),
  jobs: () => import('./commands/jobs.ts'),
  models: () => import('./commands/models.ts'),
  names: () => import('./commands/names.ts'),
  pages: () => import('./commands/pages.ts'),
  search: () => import('./commands/search.ts'),
  status: () => import('./commands/status.ts'),
  token: () => import('./commands/token.ts'),
  watch: () => import('./commands/watch.ts'),
};

interface ProgramOptions {
  version: string;
  serve: (options: { demo: boolean }) => Promise<void>;
  run: RunCommand;
  helpWidth: number;
  output?: OutputConfiguration;
  /** Width of lines on standard error. */
  errorWidth?: number | undefined;
  /** Only needed for the help of `import`: loading them takes as long as most commands. */
  formats: readonly FormatRow[];
}

/** Throws CommanderError instead of ending the process. */
export function createProgram(options: ProgramOptions): Command {
  const { version, serve, run, helpWidth, output = {}, errorWidth = Number.POSITIVE_INFINITY, formats } = options;
  const program = new Command('readback')
    .description('A self-hosted index of everything you have read.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--json', 'print one JSON document')
    .option('--url <address>', 'address of the service, instead of that of the settings', serviceAddress)
    .option('--library <name>', 'library to use, if there are several')
    .option('--no-color', 'no colours (like NO_COLOR)')
    .showSuggestionAfterError()
    .showHelpAfterError('(-h prints the help)')
    .configureOutput({ ...output, outputError: (text, write) => write(foldedText(text, errorWidth)) })
    .exitOverride()
    .addHelpText('after', () => foldedText(helpEnd, helpWidth));
  const command = (nameAndArguments: string, description: string) => inside(program, nameAndArguments, description);
  const runs: Runs =
    (load, name, ...first) =>
    (...given) =>
      run(load, name, [...first, ...given.slice(0, -1)]);

  program.commandsGroup('Service:');
  command('serve', 'run the service in the foreground, like `npm start`')
    .option('--demo', 'use a separate data folder with demo pages')
    .action(({ demo = false }) => serve({ demo }));

  const demo = command(
    'demo',
    'add demo pages to a library without pages; if no service runs, serve them from a folder of their own',
  ).action(runs(load.demo, 'demoCommand', serve));
  inside(demo, 'remove', 'delete the demo pages').action(runs(load.demo, 'removeDemoCommand'));

  command('open', 'open the console in a browser, signed in by a one-time link')
    .option('--print', 'print the link instead (valid for one minute)')
    .action(runs(load.token, 'openCommand'));

  command('pair', 'print a one-time code for the browser extension (valid for 10 minutes)').action(
    runs(load.token, 'pairCommand'),
  );

  program.commandsGroup('Pages:');
  command('add', 'add pages; the service fetches those without text')
    .argument('<url...>', 'addresses; - reads them from standard input, one per line')
    .option('--title <text>', 'title of the page (one address only)')
    .option('--html <file>', 'HTML of the page (one address only; - is standard input)')
    .option('--text <file>', 'readable text of the page (one address only; - is standard input)')
    .option('--source <label>', 'label of the origin', 'cli')
    .option('--wait', 'wait until the pages are indexed')
    .action(runs(load.add, 'addCommand'));

  command('search', 'search what you have read')
    .argument('<words...>', 'the query')
    .option('-k, --limit <number>', 'max number of pages', integer(1, maxPages), 10)
    .option('--domain <name>', 'only this domain and its subdomains')
    .option('--after <date>', 'only pages visited at or after this date', date)
    .option('--before <date>', 'only pages visited before this date', date)
    .addOption(new Option('--sort <order>', 'order of the pages').choices(searchSorts).default('relevance'))
    .option('--counts', 'also count all matching pages by site, language, topic, name, tag and so on')
    .option('--no-rerank', 'do not rerank')
    .option('--no-spelling', 'do not correct spelling')
    .addHelpText('afterAll', () => foldedText(operatorsText, helpWidth))
    .action(runs(load.search, 'searchCommand'));

  command('ask', 'answer a question by sentences of pages that you have read')
    .argument('<words...>', 'the question')
    .option('-n, --sentences <number>', 'max number of sentences', integer(1, 5), 3)
    .option('--domain <name>', 'only this domain and its subdomains')
    .option('--after <date>', 'only pages visited at or after this date', date)
    .option('--before <date>', 'only pages visited before this date', date)
    .option('--model', 'also show what would be sent to the language model of the settings')
    .option('--yes', 'with --model: send it, and print its answer')
    .action(runs(load.ask, 'askCommand'));

  addReading(program, runs);
  program.commandsGroup('State and maintenance:');
  addModels(program, run, runs);

  command('status', 'show the state of the service and the data folder').action(runs(load.status, 'statusCommand'));

  const jobs = command('jobs', 'list jobs, newest first')
    .addOption(new Option('--status <status>', 'only this status').choices(jobStatuses))
    .addOption(new Option('--kind <kind>', 'only this kind').choices(jobKinds))
    .option('--limit <number>', 'max number (default: 20; retry: all)', integer(1, 1_000_000));
  lists(jobs, runs(load.jobs, 'jobsCommand'));
  inside(jobs, 'retry', 'retry dead jobs: these, or all')
    .argument('[id...]', 'ids of jobs')
    .action((ids: string[], _options, self: Command) => {
      const { status = 'dead', ...options } = self.optsWithGlobals();
      if (status !== 'dead') self.error('error: only dead jobs can be retried; failed ones retry by themselves');
      return run(load.jobs, 'retryCommand', [ids, options]);
    });

  command('doctor', 'check that everything the service needs is installed').action(() =>
    run(load.doctor, 'doctorCommand', [], { warns: false }),
  );

  command('fsck', 'check the store and the index of a stopped data folder')
    .option('--repair', 'delete faulty index files: the next start builds them again')
    .option('--full', 'check every page in full, not a sample')
    .addOption(
      new Option('--seed <number>', 'seed of the sample, to repeat an earlier run').argParser(integer(0, 2 ** 31)),
    )
    .action(runs(load.doctor, 'fsckCommand'));

  program.commandsGroup('Import, export and backup:');
  command('import', "import bookmarks, histories, read-it-later lists, one's own files or an export of readback")
    .argument('<file>', 'a file, a ZIP archive, a folder of files, or - for standard input')
    .addOption(new Option('--format <name>', 'format of the file, if it is not detected').argParser(importFormat))
    .option('--columns <names>', 'what columns of a CSV or fields of a JSON are: url=2,title=name')
    .option('--dry-run', 'report what would be imported; write nothing')
    .option('--since <date>', 'only what was visited or saved at or after this date', date)
    .option('--min-visits <number>', 'histories: min visits of an address', integer(1, 1_000_000), 1)
    .option('--source <label>', 'label of the origin (default: import:FORMAT)')
    .option('--again', 'import it again from the start')
    .option('--retry-failed', 'only items that failed before')
    .option('--offline', 'write into the data folder of a stopped service')
    .addOption(
      new Option('--watch', 'a folder of own files: keep running, and import new and changed ones').conflicts([
        'format',
        'columns',
        'dryRun',
        'again',
        'retryFailed',
        'offline',
      ]),
    )
    .addHelpText('afterAll', () => foldedText(formatsHelp(formats), helpWidth))
    .action(runs(load.import, 'importCommand'));

  command('export', 'export pages, blocked sites, watches and feedback')
    .argument('<file>', 'a file, a new folder (markdown), or - for standard output')
    .addOption(
      new Option('--format <name>', 'JSONL, bookmarks for browsers, or a folder with a Markdown file for each page')
        .choices(['jsonl', 'bookmarks', 'markdown'])
        .default('jsonl'),
    )
    .option('--force', 'overwrite an existing file')
    .action(runs(load.export, 'exportCommand'));

  command('backup', 'write a backup; the service may run')
    .argument('<dir>', 'a new or empty folder')
    .action(runs(load.backup, 'backupCommand'));

  command('restore', 'restore a backup into the data folder of a stopped service')
    .argument('<dir>', 'folder of the backup')
    .option('--replace', 'replace an existing store, which is kept as before-restore-…')
    .action(runs(load.backup, 'restoreCommand'));

  program.commandsGroup('Access and shell:');
  const tokens = lists(command('token', 'list access tokens'), runs(load.token, 'tokensCommand'));
  inside(tokens, 'add <name>', 'make a token that can be revoked, such as for an assistant')
    .addOption(scopeOption('its scope; write includes read'))
    .action(runs(load.token, 'addTokenCommand'));
  inside(tokens, 'revoke <token...>', 'revoke tokens, by id, and end their sessions').action(
    runs(load.token, 'revokeTokensCommand'),
  );
  inside(tokens, 'new', "replace the data folder's token").action(runs(load.token, 'newTokenCommand'));

  command('completion', 'print the completion of commands for a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./completion.ts');
      program.configureOutput().writeOut?.(completionScript(program, shell));
    });

  program.helpCommand('help [command]', 'print the help of a command');

  program.commandsGroup('Cluster:');
  addCluster(program, run, runs);

  const subcommandTerm = (each: Command) =>
    `${[each.name(), ...each.aliases()].join('|')} ${each.usage().replace(/\[(?:options|command)\] ?/g, '')}`;
  for (const each of [program, ...everyCommand(program)])
    each.configureHelp({ showGlobalOptions: true, helpWidth, subcommandTerm });
  for (const each of everyCommand(program)) {
    each.helpOption('-h, --help', 'print this').exitOverride();
    if (each.commands.length > 0) each.helpCommand('help [command]', 'print the help of a command');
    const lines = examples[pathOf(each)];
    if (lines !== undefined) each.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }
  return program;
}

function addReading(program: Command, runs: Runs): void {
  const pages = inside(program, 'pages', 'list pages, newest first')
    .option('--domain <name>', 'only this domain and its subdomains')
    .option('--after <date>', 'only pages visited at or after this date', date)
    .option('--before <date>', 'only pages visited before this date', date)
    .addOption(new Option('--status <status>', 'only this status').choices(pageStatuses))
    .option('--limit <number>', 'max number', integer(1, 1_000_000), 20);
  lists(pages, runs(load.pages, 'pagesCommand'));
  inside(pages, 'show <page>', 'show one page, by id or address')
    .option('--text', 'print its text, too')
    .action(runs(load.pages, 'pageCommand'));

  inside(program, 'tag', 'add tags to pages, or remove them')
    .argument('<page...>', 'ids or addresses of pages')
    .option('--add <tag>', 'tag to add; may be repeated', collected)
    .option('--remove <tag>', 'tag to remove; may be repeated', collected)
    .action(runs(load.pages, 'tagCommand'));
  inside(program, 'note', 'print the note on a page, or replace it')
    .argument('<page>', 'id or address of a page')
    .argument('[text]', "the new note; '' removes it")
    .action(runs(load.pages, 'noteCommand'));

  inside(program, 'refresh', 'fetch the text of pages again; the stored text stays until then')
    .argument('[page...]', 'ids or addresses of pages')
    .option('--domain <name>', 'all pages of this domain and its subdomains')
    .option('--older-than <date>', 'all pages whose text is older than this date', date)
    .option('--dry-run', 'only count the pages')
    .action(runs(load.pages, 'refreshCommand'));

  const forget = inside(program, 'forget', 'delete pages for good and block them')
    .alias('delete')
    .argument('<what...>', 'ids or addresses of pages')
    .option('--domain', 'delete whole domains with their subdomains')
    .option('--block', 'also block addresses and domains without a page')
    .option('--reason <text>', 'note to keep with the blocked address')
    .option('--yes', 'with --domain: delete; otherwise only count the pages')
    .action(runs(load.forget, 'forgetCommand'));
  inside(forget, 'rules', 'list blocked sites and pages, newest first').action(runs(load.forget, 'rulesCommand'));
  inside(forget, 'allow <rule...>', 'unblock: the pages may be added again').action(runs(load.forget, 'allowCommand'));

  const watch = lists(inside(program, 'watch', 'list watches'), runs(load.watch, 'watchesCommand'));
  inside(watch, 'add <address>', 'watch a feed, video channel or podcast')
    .addOption(new Option('--kind <kind>', 'kind of source').choices(watchKind.options).default('rss'))
    .option('--title <text>', 'title of the watch')
    .option('--every <hours>', 'polling interval', integer(1, maxIntervalHours))
    .action(runs(load.watch, 'addWatchCommand'));
  inside(watch, 'remove <watch...>', 'delete watches; their pages stay').action(
    runs(load.watch, 'removeWatchesCommand'),
  );
  inside(watch, 'run <watch...>', 'poll now').action(runs(load.watch, 'runWatchesCommand'));
  inside(watch, 'pause <watch...>', 'pause polling').action(runs(load.watch, 'enableWatchesCommand', false));
  inside(watch, 'resume <watch...>', 'resume polling').action(runs(load.watch, 'enableWatchesCommand', true));

  const topics = lists(inside(program, 'topics', 'list topics, largest first'), runs(load.names, 'topicsCommand'));
  inside(topics, 'show <topic>', 'list the pages of a topic, most typical first')
    .option('--limit <number>', 'max number', integer(1, 500), 20)
    .action(runs(load.names, 'topicCommand'));
  inside(topics, 'find', 'refresh topics').action(runs(load.names, 'findTopicsCommand'));

  const list = runs(load.names, 'namesCommand');
  const show = runs(load.names, 'nameCommand');
  const names = inside(program, 'names', 'list names in pages, or show one with its pages')
    .argument('[name]', 'a name, a spelling of it, or an id')
    .option('--limit <number>', 'max number of names or pages', integer(1, 1000), 20)
    .action((name, options, self) => (name === undefined ? list(options, self) : show(name, options, self)));
  inside(names, 'list [part]', 'list names, most frequent first: all, or those with this part')
    .option('--type <type>', 'only this type: person, organization, place, other')
    .action((part, { type }, self) => list({ ...names.opts(), type }, part, self));
  inside(names, 'of <page>', 'list the names in a page, by id or address').action(
    runs(load.names, 'namesOfPageCommand'),
  );
  inside(names, 'merges [name]', 'list merges of names, newest first').action(runs(load.names, 'mergesCommand'));
  inside(names, 'suggestions', 'list pairs of names that may be one').action(runs(load.names, 'suggestionsCommand'));
  inside(names, 'merge <name> <other>', 'merge two names').action(runs(load.names, 'decideCommand', 'merge'));
  inside(names, 'reject <name> <other>', 'keep two names apart and stop suggesting them').action(
    runs(load.names, 'decideCommand', 'reject'),
  );
  inside(names, 'split <merge>', 'split any merge of two names').action(runs(load.names, 'splitMergeCommand'));
}

function inside(parent: Command, nameAndArguments: string, description: string): Command {
  return parent.command(nameAndArguments).description(description);
}

/** Makes the group alone list, like its `list` command. */
function lists(group: Command, list: (...given: unknown[]) => Promise<void>): Command {
  inside(group, 'list', group.description()).action((_own, self) => list(group.opts(), self));
  return group.action(list);
}

const scopeOption = (description: string) =>
  new Option('--scope <scope>', description).choices(['read', 'write']).default('write');

const foldedText = (text: string, columns: number): string =>
  text
    .split('\n')
    .flatMap((line) => folded(line, columns))
    .join('\n');

/** Names of the groups of a command, then its own. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

function addModels(program: Command, run: RunCommand, runs: Runs): void {
  const model = inside(program, 'model', 'list embedding models').action(runs(load.models, 'modelsCommand'));
  inside(model, 'list', 'list registered models and mark the active one')
    .option('--known', 'list known models instead, with published facts')
    .action(({ known = false }) => run(load.models, known ? 'knownModelsCommand' : 'modelsCommand', []));
  inside(model, 'add <name>', 'register a known model, or any by the name of its provider')
    .option('--provider <name>', 'ollama, tei, openai, …: docs/providers.md')
    .option('--dim <number>', 'dimensions of its vectors', integer(1, 8192))
    .option('--max-tokens <number>', 'max tokens of a text', integer(1, 10_000_000))
    .action(runs(load.models, 'addModelCommand'));
  inside(model, 'fill <model>', 'estimate the work of making its vectors; with --yes, make them')
    .option('--yes', 'start or continue, and wait for the end')
    .action(runs(load.models, 'fillModelCommand'));
  inside(model, 'use <model>', 'search by this model from now on').action(runs(load.models, 'useModelCommand'));
  inside(model, 'pause', 'pause making vectors of the built-in model').action(
    runs(load.models, 'pauseFillCommand', true),
  );
  inside(model, 'resume', 'resume making vectors').action(runs(load.models, 'pauseFillCommand', false));
  inside(model, 'remove <model>', 'delete a model with its vectors').action(runs(load.models, 'removeModelCommand'));
}

function addCluster(program: Command, run: RunCommand, runs: Runs): void {
  const status = runs(load.cluster, 'clusterCommand', 'status');
  const cluster = inside(program, 'cluster', 'manage the tables of a cluster on PostgreSQL').action(status);
  inside(cluster, 'init', 'create the tables or migrate them to this version')
    .alias('migrate')
    .action(runs(load.cluster, 'clusterCommand', 'migrate'));
  inside(cluster, 'status', 'list libraries with their hosts and sizes').action(status);

  const library = inside(program, 'library', 'manage the libraries of a cluster').action(status);
  const one = (nameAndArguments: string, description: string) => inside(library, nameAndArguments, description);
  const does = (task: LibraryTask) => runs(load.cluster, 'libraryCommand', task);
  one('list', 'like `cluster status`').action(status);
  const withToken = (given: Command) =>
    given.option('--name <name>', 'name of the token', 'first').addOption(scopeOption('scope of the token'));
  withToken(one('new <library>', 'create an empty library and a token')).action(does('new'));
  withToken(one('token <library>', 'create another token')).action(does('token'));
  one('move <library>', 'release it from its host; the next host asked serves it').action(does('move'));
  one('suspend <library>', 'stop serving it').action(does('suspend'));
  one('resume <library>', 'serve it again').action(does('resume'));
  one('quota <library>', 'set its max size; above it new pages are refused')
    .argument('<size>', '`none`, or a size: 500MB, 20GB', sizeOrNone)
    .action((name, maxBytes) => run(load.cluster, 'libraryCommand', ['quota', name, { maxBytes }]));
  one('delete <library>', 'delete its rows and tokens at once').option('--yes', 'confirm').action(does('delete'));
  one('export <library> <dir>', 'export it into a new data folder for a service without a cluster').action(
    (name, dir) => run(load.cluster, 'libraryCommand', ['export', name, { dir }]),
  );
  withToken(one('import <library> <dir>', 'create a library from the data folder of a stopped service')).action(
    (name, dir, args) => run(load.cluster, 'libraryCommand', ['import', name, { ...args, dir }]),
  );
}

export function everyCommand(program: Command): Command[] {
  return program.commands.flatMap((each) => [each, ...everyCommand(each)]);
}

/** By the path of a command. */
export const examples: Readonly<Record<string, readonly string[]>> = {
  add: [
    'readback add https://example.org/herons --wait',
    'readback add https://example.org/herons --html saved.html',
    'readback add - < addresses.txt',
  ],
  search: [
    'readback search what do herons eat',
    'readback search \'"grey heron" -boat site:example.org after:7d\'',
    'readback search herons --sort newest --json',
  ],
  pages: ['readback pages --domain example.org --after 2026-01-31', 'readback pages --status dead'],
  'pages show': ['readback pages show https://example.org/herons --text'],
  refresh: [
    'readback refresh https://example.org/herons',
    'readback refresh --domain example.org --older-than 2026-01-31',
  ],
  forget: [
    'readback delete https://example.org/herons',
    'readback delete --domain example.org --yes',
    'readback delete --domain --block --yes ads.example',
  ],
  'watch add': [
    'readback watch add https://example.org/feed.xml --every 6',
    'readback watch add https://example.org/podcast.xml --kind podcast',
  ],
  'topics show': ['readback topics show cl_00000001 --limit 50'],
  names: ['readback names list watt --type person', "readback names 'James Watt'", 'readback names of pg_00000001'],
  jobs: ['readback jobs --status dead', 'readback jobs retry --kind fetch_and_index'],
  import: [
    'readback import ~/.config/chromium/Default/History --dry-run',
    'readback import bookmarks.html',
    'readback import urls.txt --format urls --source notes',
    'readback import ~/Documents/notes --watch',
  ],
  export: ['readback export readback.jsonl', 'readback export - | gzip > readback.jsonl.gz'],
  token: ['readback token add phone --scope read', 'readback token list', 'readback token revoke tk_5f0c4e1b9a3d7286'],
  completion: [
    'source <(readback completion bash)   # in ~/.bashrc',
    'source <(readback completion zsh)    # in ~/.zshrc, after compinit',
    'readback completion fish > ~/.config/fish/completions/readback.fish',
  ],
};

const helpEnd = `
Settings come from environment variables (docs/settings.md): the data folder
from SERVICE_DATA_DIR, the service's address from SERVICE_BIND_HOST and
SERVICE_BIND_PORT, the token from SERVICE_AUTH_TOKEN, SERVICE_AUTH_TOKENS or the
file \`token\` in the data folder.

Exit codes:
${exitMeanings.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`).join('\n')}`;

const operatorsText = `
Operators; quote a query with operators: 'heron -boat'. A minus before one finds
all other pages:
${operatorHelp.map(({ operator, finds, example }) => `  ${operator.padEnd(8)}  ${finds}\n            ${example}`).join('\n')}`;

function formatsHelp(formats: readonly FormatRow[]): string {
  const lines = importFormats.flatMap((format) =>
    formats
      .filter((row) => row.format === format)
      .map(({ from }, at) => `  ${(at === 0 ? format : '').padEnd(18)}  ${from}`),
  );
  return `
Formats, detected by the content of the file:
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

const collected = (text: string, before: readonly string[] = []): string[] => [...before, text];

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

/** Bytes; null for no limit. */
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

import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { openExtractor, openPdfReader } from '../../actors/fetching/extract-page.ts';
import { importTarget } from '../../actors/ingest/import-target.ts';
import { submissionPreparer } from '../../actors/ingest/prepare-submission.ts';
import { closing } from '../../compute/closing.ts';
import type { FailedItem, ImportCheckpoint, ImportColumn, ImportFormat, ImportOptions } from '../../domain/import.ts';
import { isoOf } from '../../domain/values.ts';
import { ImportError } from '../../importers/item-parts.ts';
import { type ImportSource, openSource } from '../../importers/open-source.ts';
import { dryRun, type ImportTarget, runImport } from '../../importers/run-import.ts';
import type { Store } from '../../store/store.ts';
import { type Context, clientOf } from '../context.ts';
import { httpTarget } from '../http-target.ts';
import { CliError, counted, type ExitCode, exitCodes, plain, type Terminal, table } from '../output.ts';
import { withStoppedStore } from '../stopped-folder.ts';
import { importExport, isExport } from './import-export.ts';

export interface ImportArguments {
  format?: ImportFormat;
  columns?: string;
  dryRun?: boolean;
  since?: number;
  minVisits: number;
  source?: string;
  again?: boolean;
  retryFailed?: boolean;
  offline?: boolean;
  watch?: boolean;
}

/** Failures shown on the terminal; `--json` has all. */
const shownFailures = 20;

/** `path` is a file, an export's folder, or `-` for standard input. */
export async function importCommand(context: Context, path: string, args: ImportArguments): Promise<ExitCode> {
  const spool = path === '-' ? await spooled(context) : null;
  await using pdfReader = closing(openPdfReader(context.settings.pdf));
  const pdfs = pdfReader.of('');
  try {
    const file = spool?.file ?? path;
    const { format = null, columns = null, since = null } = args;
    const options: ImportOptions = { since, min_visits: args.minVisits };
    if (args.watch) return await watchFolder(context, path, options, { ...args, pdfs });
    if (format === null && columns === null && (await isExport(file)))
      return await importExport(context, file, args.dryRun === true);
    const source = await openSource(file, format, spool === null ? path : 'standard input', columns);
    if (args.minVisits > 1 && !source.isHistory) {
      throw new CliError(exitCodes.misuse, `--min-visits needs a browser history; this is ${source.format}`);
    }
    const unread = source.columns.flatMap(({ name, is_read }) => (is_read ? [] : [name]));
    if (args.dryRun) return await tellDryRun(context, source, options, columns === null ? unread : []);
    return await bringIn(context, source, options, { ...args, pdfs });
  } catch (error) {
    if (error instanceof ImportError)
      throw new CliError(exitCodes.failed, [error.message, ...namingOf(error.columns)].join('\n'), { cause: error });
    throw error;
  } finally {
    if (spool !== null) rmSync(spool.dir, { recursive: true, force: true });
  }
}

function namingOf(columns: readonly ImportColumn[]): string[] {
  if (columns.length === 0) return [];
  const rows = columns.map(({ name, example }, at) => [`${at + 1}`, plain(name, 30), plain(example, 60)]);
  return ['if it has addresses, name its columns, such as --columns url=2,title=1', ...table(rows)];
}

type PdfReaders = ReturnType<ReturnType<typeof openPdfReader>['of']>;
type BringArguments = ImportArguments & { pdfs: PdfReaders };

const minPauseMs = 2000;
const maxPauseMs = 60_000;
const pagesAreFetched = 'will be fetched; `readback status` shows how far';

/** Imports own files, and then those that change, until it is interrupted. Only a failure of the first pass ends it. */
async function watchFolder(
  context: Context,
  path: string,
  options: ImportOptions,
  args: BringArguments,
): Promise<never> {
  const { terminal, monotonic, signal } = context;
  const label = args.source ?? 'import:files';
  const target = await httpTarget(context, clientOf(context, 'write'), label, args.pdfs);
  const known = new Map<string, string>();
  let pauseMs = minPauseMs;
  let isAgain = false;
  const importChanged = async () => {
    const began = monotonic();
    const source = await openSource(path, 'files', path, null, known);
    // Scanning a large folder takes at most a twentieth of the time.
    pauseMs = Math.min(maxPauseMs, Math.max(minPauseMs, 20 * (monotonic() - began)));
    if (source.files === undefined)
      throw new CliError(exitCodes.misuse, `--watch needs a folder, and ${path} is a file`);
    if (source.files.size === 0) return;
    const code = await runWith(context, source, options, args, { target, fetching: pagesAreFetched });
    // Otherwise each change would leave a checkpoint.
    await target.restart(source.id);
    // A failed file may succeed the next time: it was in use, or a reader was busy.
    isAgain = code === exitCodes.partly && !isAgain;
    if (!isAgain) for (const [file, state] of source.files) known.set(file, state);
  };
  await importChanged();
  terminal.note(`watching ${path} for changes: Ctrl-C stops`);
  for (;;) {
    await delay(pauseMs, undefined, { signal });
    await importChanged().catch((error: unknown) => {
      if (signal.aborted || !(error instanceof CliError || error instanceof ImportError)) throw error;
      pauseMs = maxPauseMs;
      terminal.note(error.message);
    });
  }
}

async function bringIn(
  context: Context,
  source: ImportSource,
  options: ImportOptions,
  args: BringArguments,
): Promise<ExitCode> {
  const { terminal, settings } = context;
  const client = clientOf(context, 'write');
  const label = args.source ?? `import:${source.format}`;
  const overHttp = !args.offline && (context.url !== undefined || (await client.isUp()));
  const run = (target: ImportTarget, fetching: string) => runWith(context, source, options, args, { target, fetching });
  if (!overHttp) {
    return withStoppedStore(context, 'an import into the data folder', (store) => {
      if (!context.json)
        terminal.note(
          `importing ${source.format} into ${settings.data_dir}\npages are fetched and indexed at the next start`,
        );
      const fetching = 'will be fetched when the service runs (`readback status`)';
      return withOfflineTarget(context, store, { label, pdfs: args.pdfs }, (target) => run(target, fetching));
    });
  }
  if (!context.json) terminal.note(`importing ${source.format} through ${client.baseUrl}`);
  return run(await httpTarget(context, client, label, args.pdfs), pagesAreFetched);
}

async function runWith(
  context: Context,
  source: ImportSource,
  options: ImportOptions,
  args: ImportArguments,
  { target, fetching }: { target: ImportTarget; fetching: string },
): Promise<ExitCode> {
  const { terminal, json, now, monotonic, signal } = context;
  const known = await target.load(source.id);
  const began = monotonic();
  const isRepeated = args.again || (source.isOwn && known?.finished === true);
  const beganAt = isRepeated ? 0 : (known?.next ?? 0);
  const mode = args.retryFailed ? 'retry-failed' : isRepeated ? 'again' : 'resume';
  const isKnown = mode === 'resume' && known?.finished === true;
  if (isKnown) terminal.note('already imported: nothing was done (--again repeats the import)');
  else if (mode === 'resume' && known !== undefined) terminal.note(`continuing after ${known.next} items`);
  const tell = async (checkpoint: ImportCheckpoint) => {
    terminal.progress('');
    const failures = checkpoint.counts.failed === 0 ? [] : await target.failures(source.id);
    const report = reportOf(checkpoint, isKnown, await source.leftOut());
    if (json) terminal.json({ ...report, failures });
    else {
      sayReport(terminal, report, failures, { fetching, isHistory: source.isHistory });
      if (failures.length > 0 && !args.watch) terminal.say('retry them with --retry-failed');
    }
  };
  let latest = known;
  try {
    const checkpoint = await runImport({
      source,
      target,
      options,
      mode,
      now,
      signal,
      onProgress: (reached) => {
        latest = reached;
        const { next, counts } = reached;
        const perSecond = Math.round(((next - beganAt) * 1000) / Math.max(1, monotonic() - began));
        terminal.progress(`${next} items read · ${counts.accepted} new · ${counts.failed} failed · ${perSecond}/s`);
      },
    });
    await tell(checkpoint);
    return checkpoint.counts.failed > 0 ? exitCodes.partly : exitCodes.done;
  } catch (error) {
    // First report what was imported before the damage.
    if (error instanceof ImportError && latest !== undefined && !json) await tell(latest);
    throw error;
  }
}

/** Results of a source over all runs. A source imported before has nothing new. */
function reportOf({ id, format, next, counts, newest, finished }: ImportCheckpoint, isKnown: boolean, leftOut: Counts) {
  const { accepted, revisit } = counts;
  const taken = isKnown
    ? { accepted: 0, to_fetch: 0, revisit: 0, replaced: 0, known: accepted + revisit }
    : { to_fetch: counts.to_fetch ?? 0, replaced: counts.replaced ?? 0, known: 0 };
  const date = newest === null ? null : isoOf(newest);
  return { id, format, items: next, ...counts, ...taken, visits_left_out: leftOut, newest: date, finished };
}

type Counts = Record<string, number>;

function sayReport(
  terminal: Terminal,
  report: ReturnType<typeof reportOf>,
  failures: readonly FailedItem[],
  { fetching, isHistory }: { fetching: string; isHistory: boolean },
): void {
  const rows = [
    ['items read', report.items],
    ['new pages', report.accepted],
    ['visits of known pages', report.revisit],
    ...(report.replaced === 0 ? [] : [['texts replaced', report.replaced] as const]),
    ...(report.known === 0 ? [] : [['already imported', report.known] as const]),
    ['blocked', report.blacklisted],
    ...Object.entries(report.skipped).map(([reason, count]) => [`skipped: ${reason}`, count] as const),
    ...Object.entries(report.visits_left_out).map(([reason, count]) => [`visits skipped: ${reason}`, count] as const),
    ['failed', report.failed],
  ] as const;
  const width = Math.max(...rows.map(([, count]) => String(count).length));
  for (const line of table(rows.map(([name, count]) => [name, String(count).padStart(width)]))) terminal.say(line);
  if (report.items === 0) terminal.say(`this ${report.format} file has no items`);
  if (report.to_fetch > 0) terminal.say(`${counted(report.to_fetch, 'page')} ${fetching}`);
  if (report.newest !== null && isHistory) {
    terminal.say(`newest visit: ${report.newest}`);
    const after = new Date(Date.parse(report.newest) + 1).toISOString();
    terminal.say(`for a later copy of this history, --since ${after}`);
    terminal.say('imports only new items');
  }
  for (const { url, reason } of failures.slice(0, shownFailures)) {
    const lines = url === '' ? [plain(reason, 200)] : [plain(url, 70), plain(reason, 200)];
    terminal.say(`${terminal.style('red', 'failed')}  ${lines.join('\n        ')}`);
  }
  if (failures.length > shownFailures) terminal.say(`and ${failures.length - shownFailures} more (--json lists all)`);
}

async function tellDryRun(
  { terminal, json, settings }: Context,
  source: ImportSource,
  options: ImportOptions,
  unread: readonly string[],
): Promise<ExitCode> {
  const result = await dryRun(source, options, settings.canonicalize);
  const leftOut = await source.leftOut();
  const { oldest, newest, error } = result;
  if (json) terminal.json({ dry_run: true, format: source.format, ...result, visits_left_out: leftOut });
  else {
    const rows = [
      ['format', source.format],
      ['items to import', String(result.items)],
      ['distinct addresses', result.addresses === null ? 'over a million' : String(result.addresses)],
      ['with text', String(result.with_text)],
      ...Object.entries(result.skipped).map(([reason, count]) => [`skipped: ${reason}`, String(count)]),
      ...Object.entries(leftOut).map(([reason, count]) => [`visits skipped: ${reason}`, String(count)]),
      ...(oldest === null ? [] : [['dates', `${oldest} … ${newest}`]]),
      ...(unread.length === 0 ? [] : [['columns not read', `${plain(unread.join(', '), 200)} (--columns names them)`]]),
    ];
    for (const line of table(rows)) terminal.say(line);
    for (const { place, title, reason } of result.examples.slice(0, shownFailures))
      terminal.say(`${terminal.style('yellow', 'skipped')}  ${plain(place, 60)}: ${reason}  ${plain(title, 70)}`);
    for (const fault of result.faults.slice(0, shownFailures))
      terminal.say(`${terminal.style('red', 'unreadable')}  ${plain(fault, 200)}`);
    if (result.unreadable > shownFailures) terminal.say(`and ${result.unreadable - shownFailures} more: see --json`);
    terminal.say('nothing was written (--dry-run)');
    if (error !== null) terminal.note(error);
  }
  return error !== null ? exitCodes.failed : result.unreadable > 0 ? exitCodes.partly : exitCodes.done;
}

/** Standard input as a file: it is read twice, and recognized again. */
async function spooled({ stdin, signal }: Context): Promise<{ dir: string; file: string }> {
  if (stdin.isTTY === true) throw new CliError(exitCodes.misuse, 'standard input is empty: pipe a list into it');
  const dir = mkdtempSync(join(tmpdir(), 'readback-stdin-'));
  const file = join(dir, 'stdin');
  try {
    await pipeline(stdin, createWriteStream(file, { mode: 0o600 }), { signal });
    return { dir, file };
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

const itemsPerTransaction = 500;

async function withOfflineTarget<Result>(
  { settings, now, signal }: Context,
  store: Store,
  { label, pdfs }: { label: string; pdfs: PdfReaders },
  use: (target: ImportTarget) => Promise<Result>,
): Promise<Result> {
  await using extractor = closing(openExtractor(Math.max(2, availableParallelism())));
  const { canonicalize } = settings;
  const { prepareItem } = submissionPreparer({
    extract: extractor.extract,
    canonicalize,
    maxAttempts: settings.jobs.max_attempts,
    now,
  });
  return await use(
    importTarget({
      label,
      maxItems: itemsPerTransaction,
      commit: (command) => store.commit(command),
      imports: store.reader.imports,
      canonicalize,
      prepareItem,
      quotaBytes: settings.storage.max_bytes,
      usedBytes: () => store.usedBytes(),
      pdfs,
      signal,
      now,
    }),
  );
}

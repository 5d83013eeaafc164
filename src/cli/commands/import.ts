/** `readback import`: brings in what other programs know of one's reading. */
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isoOf } from '../../domain/ids.ts';
import type { FailedItem, ImportCheckpoint, ImportFormat, ImportOptions } from '../../domain/import.ts';
import { ImportError } from '../../importers/import-error.ts';
import { type ImportSource, openSource } from '../../importers/open-source.ts';
import { dryRun, type ImportTarget, runImport } from '../../importers/run-import.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, clientOf } from '../context.ts';
import { httpPromise, httpTarget } from '../http-target.ts';
import { withOfflineTarget } from '../offline-target.ts';
import { withStoppedStore } from '../stopped-folder.ts';
import { plain, type Terminal, table } from '../terminal.ts';
import { importExport, isExport } from './import-export.ts';

export interface ImportArguments {
  format: ImportFormat | null;
  dryRun: boolean;
  since: number | null;
  minVisits: number;
  /** Label of the pages' source. */
  source: string | null;
  again: boolean;
  retryFailed: boolean;
  offline: boolean;
}

/** Failures told on the terminal; `--json` has them all. */
const shownFailures = 20;

/** `path` is a file, an export's folder, or `-` for standard input. */
export async function importCommand(context: Context, path: string, args: ImportArguments): Promise<ExitCode> {
  const spool = path === '-' ? await spooled(context) : null;
  try {
    const file = spool?.file ?? path;
    if (args.format === null && (await isExport(file))) return await importExport(context, file, args.dryRun);
    const source = await openSource(file, args.format ?? (path === '-' ? await stdinFormat(file) : null));
    const options: ImportOptions = { since: args.since, min_visits: args.minVisits };
    if (args.minVisits > 1 && source.format !== 'chromium' && source.format !== 'firefox') {
      throw new CliError(exitCodes.misuse, `--min-visits is for histories of browsers; this is ${source.format}`);
    }
    if (args.dryRun) return await tellDryRun(context, source, options);
    return await bringIn(context, source, options, args);
  } catch (error) {
    if (error instanceof ImportError) throw new CliError(exitCodes.failed, error.message, { cause: error });
    throw error;
  } finally {
    if (spool !== null) rmSync(spool.dir, { recursive: true, force: true });
  }
}

/** Standard input is a list of addresses unless its beginning says otherwise. */
async function stdinFormat(file: string): Promise<ImportFormat> {
  if (statSync(file).size === 0) throw new CliError(exitCodes.misuse, 'standard input is empty');
  try {
    return (await openSource(file, null)).format;
  } catch (error) {
    if (error instanceof ImportError) return 'urls';
    throw error;
  }
}

async function bringIn(context: Context, source: ImportSource, options: ImportOptions, args: ImportArguments) {
  const { terminal, settings } = context;
  const client = clientOf(context, 'write');
  const label = args.source ?? `import:${source.format}`;
  const overHttp = !args.offline && (context.url !== undefined || (await client.isUp()));
  const run = (target: ImportTarget) => runWith(context, source, options, args, target);
  if (!overHttp) {
    return withStoppedStore(context, 'an import into the data folder', (store) => {
      if (!context.json)
        terminal.note(
          `importing ${source.format} into ${settings.data_dir}; pages are fetched and indexed at the next start`,
        );
      return withOfflineTarget(context, store, label, run);
    });
  }
  if (!context.json) terminal.note(`importing ${source.format} through ${client.baseUrl} (${httpPromise})`);
  const target = httpTarget(context, client, label);
  const code = await run(target);
  if (target.repeated() > 0) {
    terminal.note(
      `${target.repeated()} items were sent again after a lost connection: their visits may be counted twice`,
    );
  }
  return code;
}

async function runWith(
  context: Context,
  source: ImportSource,
  options: ImportOptions,
  args: ImportArguments,
  target: ImportTarget,
): Promise<ExitCode> {
  const { terminal, json, now, monotonic, signal } = context;
  const known = await target.load(source.id);
  const began = monotonic();
  const beganAt = args.again ? 0 : (known?.next ?? 0);
  const mode = args.retryFailed ? 'retry-failed' : args.again ? 'again' : 'resume';
  if (mode === 'resume' && known?.finished === true) {
    terminal.note('this source was imported already: nothing was done (--again imports it once more)');
  } else if (mode === 'resume' && known !== undefined) terminal.note(`going on after ${known.next} items`);
  const checkpoint = await runImport({
    source,
    target,
    options,
    mode,
    now,
    signal,
    onProgress: ({ next, counts }) => {
      const perSecond = Math.round(((next - beganAt) * 1000) / Math.max(1, monotonic() - began));
      terminal.progress(`${next} items read · ${counts.accepted} new · ${counts.failed} failed · ${perSecond}/s`);
    },
  });
  terminal.progress('');
  const failures = checkpoint.counts.failed === 0 ? [] : await target.failures(source.id);
  if (json) terminal.json({ ...presented(checkpoint), failures });
  else tell(terminal, checkpoint, failures);
  return checkpoint.counts.failed > 0 ? exitCodes.partly : exitCodes.done;
}

function presented({ id, format, next, counts, newest, finished }: ImportCheckpoint) {
  return { id, format, items: next, ...counts, newest: newest === null ? null : isoOf(newest), finished };
}

function tell(
  terminal: Terminal,
  { format, next, counts, newest }: ImportCheckpoint,
  failures: readonly FailedItem[],
): void {
  const rows = [
    ['items read', String(next)],
    ['new pages', String(counts.accepted)],
    ['further visits of known pages', String(counts.revisit)],
    ['refused by the blacklist', String(counts.blacklisted)],
    ...Object.entries(counts.skipped).map(([reason, count]) => [`left out: ${reason}`, String(count)]),
    ['failed', String(counts.failed)],
  ];
  for (const line of table(rows)) terminal.say(line);
  if (newest !== null && (format === 'chromium' || format === 'firefox')) {
    terminal.say(`newest visit  ${isoOf(newest)}: of a later copy of this history, import what is --since then`);
  }
  for (const { url, reason } of failures.slice(0, shownFailures)) {
    terminal.say(`${terminal.style('red', 'failed')}  ${plain(url, 100)}: ${plain(reason, 200)}`);
  }
  if (failures.length > shownFailures) terminal.say(`and ${failures.length - shownFailures} more: see --json`);
  if (failures.length > 0) terminal.say('the same command with --retry-failed tries these again');
}

async function tellDryRun(
  { terminal, json }: Context,
  source: ImportSource,
  options: ImportOptions,
): Promise<ExitCode> {
  const result = await dryRun(source, options);
  const [oldest, newest] = [result.oldest, result.newest].map((at) => (at === null ? null : isoOf(at)));
  if (json) terminal.json({ dry_run: true, format: source.format, ...result, oldest, newest });
  else {
    const rows = [
      ['format', source.format],
      ['items that would go in', String(result.items)],
      ['distinct addresses', result.addresses === null ? 'over a million' : String(result.addresses)],
      ['with their text', String(result.withText)],
      ...Object.entries(result.skipped).map(([reason, count]) => [`left out: ${reason}`, String(count)]),
      ...(oldest === null ? [] : [['dates', `${oldest} … ${newest}`]]),
    ];
    for (const line of table(rows)) terminal.say(line);
    terminal.say('nothing was written (--dry-run)');
  }
  return exitCodes.done;
}

/** Standard input as a file: it is read twice, and the same list is known again. */
async function spooled({ stdin, signal }: Context): Promise<{ dir: string; file: string }> {
  if (stdin.isTTY === true)
    throw new CliError(exitCodes.misuse, 'nothing comes on standard input: pipe a list into it');
  const dir = mkdtempSync(join(tmpdir(), 'readback-stdin-'));
  const file = join(dir, 'stdin');
  await pipeline(stdin, createWriteStream(file, { mode: 0o600 }), { signal });
  return { dir, file };
}

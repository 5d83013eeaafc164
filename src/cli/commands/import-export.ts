/** Imports an export of readback (src/domain/export.ts) into the store of a stopped service. */
import { createReadStream, statSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { noneTaken, type TakenCounts, takeExport } from '../../commands/take-export.ts';
import { type ExportLine, exportFile, exportLine, pageOfFile } from '../../domain/export.ts';
import { type Context, tell } from '../context.ts';
import { CliError, type ExitCode, exitCodes, plain, table } from '../output.ts';
import { withStoppedStore } from '../stopped-folder.ts';

const linesPerTransaction = 200;
/** Maximum characters of a transaction; one longer line goes alone. */
const charsPerTransaction = 16 * 2 ** 20;

const jsonOf = (path: string): string =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? join(path, exportFile) : path;

export async function isExport(path: string): Promise<boolean> {
  await using file = await open(jsonOf(path), 'r').catch(() => null); // the importer reports unreadable files
  if (file === null || !(await file.stat()).isFile()) return false;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
  return buffer.toString('latin1', 0, bytesRead).startsWith('{"kind":"readback_export"');
}

/** Errors: CliError with the line number for a damaged or truncated file; earlier lines stay imported. */
export async function importExport(context: Context, path: string, dryRun: boolean): Promise<ExitCode> {
  const { settings, terminal, now, signal } = context;
  const { canonicalize, jobs } = settings;
  const options = { at: now(), max_attempts: jobs.max_attempts, canonicalize };
  if (dryRun) {
    const kinds: Record<string, number> = {};
    for await (const { line } of linesOf(path)) kinds[line.kind] = (kinds[line.kind] ?? 0) + 1;
    const { page = 0, rule = 0, watch = 0, feedback = 0 } = kinds;
    const counts = { pages: page, rules: rule, watches: watch, feedback };
    return tell(context, { dry_run: true, format: 'readback', ...counts }, ({ say }) => {
      for (const line of table(Object.entries(counts).map(([name, count]) => [name, String(count)]))) say(line);
      say('nothing was written (--dry-run)');
    });
  }
  const total = noneTaken();
  await withStoppedStore(context, 'the import of an export', async (store) => {
    let lines: ExportLine[] = [];
    let chars = 0;
    const send = async () => {
      const counts = await store.commit(takeExport(lines, options));
      for (const [kind, count] of Object.entries(counts)) total[kind as keyof TakenCounts] += count;
      terminal.progress(`${total.new_pages + total.known_pages} pages`);
      lines = [];
      chars = 0;
    };
    for await (const { line, length } of linesOf(path)) {
      signal.throwIfAborted();
      lines.push(line);
      chars += length;
      if (lines.length >= linesPerTransaction || chars >= charsPerTransaction) await send();
    }
    await send();
  });
  terminal.progress('');
  return tell(context, { format: 'readback', ...total }, ({ say }) => {
    const rows = [
      ['new pages', total.new_pages],
      ['known pages, visits and dates merged', total.known_pages],
      ['blocked', total.blacklisted],
      ['new rules', total.rules],
      ['new watches', total.watches],
      ['skipped: feedback', total.left_out],
    ] as const;
    for (const line of table(rows.map(([name, count]) => [name, String(count)]))) say(line);
    say('pages are indexed at the next start');
  });
}

async function* linesOf(source: string): AsyncGenerator<{ line: ExportLine; length: number }> {
  const path = jsonOf(source);
  const names = path === source ? [] : await readdir(join(source, 'pages'));
  const files = names.filter((name) => name.endsWith('.md')).sort();
  const input = createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 18 });
  let number = 0;
  let ended = false;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (text.trim() === '') continue;
    const line = checked(() => JSON.parse(text), path, number);
    if (line.kind === 'end') {
      const lines = number - 1 + files.length;
      if (line.lines !== lines) throw damaged(path, number, `the export has ${lines} of ${line.lines} lines`);
      ended = true;
      continue;
    }
    yield { line, length: text.length };
  }
  if (!ended) throw damaged(path, number + 1, 'the file is truncated: its last line is missing');
  for (const name of files) {
    const file = join(source, 'pages', name);
    const text = await readFile(file, 'utf8');
    yield { line: checked(() => pageOfFile(text), file, 1), length: text.length };
  }
}

function checked(read: () => unknown, path: string, number: number): ExportLine {
  let value: unknown;
  try {
    value = read();
  } catch (cause) {
    throw damaged(path, number, 'not JSON', cause);
  }
  const parsed = exportLine.safeParse(value);
  if (!parsed.success) throw damaged(path, number, plain(z.prettifyError(parsed.error), 300));
  return parsed.data;
}

function damaged(path: string, line: number, reason: string, cause?: unknown): CliError {
  return new CliError(exitCodes.failed, `${path}, line ${line}: ${reason}`, { cause });
}

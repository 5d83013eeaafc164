/** `readback export`: all user data, one JSON object a line (src/domain/export.ts). */
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { visitTimes } from '../../compute/structures/visit-times.ts';
import { errorCode } from '../../domain/error-code.ts';
import { type ExportLine, exportVersion } from '../../domain/export.ts';
import { isoOf } from '../../domain/ids.ts';
import { createFile, replaceFile, TEMPORARY_SUFFIX } from '../../files/durable-file.ts';
import type { StoreReader } from '../../store/store.ts';
import { CliError, type ExitCode, exitCodes } from '../cli-error.ts';
import { type Context, tell, withStore } from '../context.ts';
import { bar } from '../terminal.ts';

const sliceSize = 200;

export async function exportCommand(
  context: Context,
  path: string,
  { force = false }: { force?: boolean },
): Promise<ExitCode> {
  const { terminal, signal, newId } = context;
  const counts = await withStore(context, async ({ reader }) => {
    const lines = exportLines(context, reader);
    if (path === '-') return writeLines(lines, context.stdout, signal);
    const write = async (temporary: string) => {
      const file = await open(temporary, 'wx', 0o600);
      const stream = file.createWriteStream();
      const written = await writeLines(lines, stream, signal);
      stream.end();
      await once(stream, 'close');
      return written;
    };
    const temporary = `${path}.${newId()}${TEMPORARY_SUFFIX}`; // `FILE.new` may be another file
    const placed = force ? replaceFile(path, write, temporary) : createFile(path, write, temporary);
    return placed.catch(refuseInWords(path));
  });
  terminal.progress('');
  if (path === '-') return exitCodes.done;
  return tell(context, { file: path, ...counts }, ({ say }) => {
    const parts = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
    say(`${path}: ${parts.join(', ')}; \`readback import ${path}\` imports it`);
  });
}

/** Reports an existing file or a missing folder: the system's message would name the temporary file. */
const refuseInWords = (path: string) => (error: unknown) => {
  const code = errorCode(error);
  if (code === 'EEXIST') {
    throw new CliError(exitCodes.misuse, `${path} exists; --force overwrites it`, { cause: error });
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    throw new CliError(exitCodes.failed, `the folder ${dirname(path)} does not exist`, { cause: error });
  }
  throw error;
};

async function writeLines(lines: AsyncIterable<ExportLine>, to: NodeJS.WritableStream, signal: AbortSignal) {
  const counts = { readback_export: 0, page: 0, rule: 0, watch: 0, feedback: 0, end: 0 };
  const write = async (line: ExportLine) => {
    signal.throwIfAborted();
    counts[line.kind]++;
    if (!to.write(`${JSON.stringify(line)}\n`)) await once(to, 'drain', { signal });
  };
  for await (const line of lines) await write(line);
  const { page: pages, rule: rules, watch: watches, feedback } = counts;
  await write({ kind: 'end', lines: 1 + pages + rules + watches + feedback });
  return { pages, rules, watches, feedback };
}

async function* exportLines({ now, terminal }: Context, reader: StoreReader): AsyncGenerator<ExportLine> {
  yield { kind: 'readback_export', version: exportVersion, exported_at: isoOf(now()) };
  for (const { pattern, kind, reason, created_at, canonicalized_by } of reader.blacklist.list().reverse()) {
    yield { kind: 'rule', pattern, rule_kind: kind, canonicalized_by, reason, created_at: isoOf(created_at) };
  }
  for (const watch of reader.watches.list()) {
    const { url, identity, title, enabled, interval_hours, config, created_at } = watch;
    const common = { url, identity, title, enabled, interval_hours, config, created_at: isoOf(created_at) };
    yield { kind: 'watch', watch_kind: watch.kind, ...common };
  }
  const all = Math.max(1, reader.pages.count());
  let done = 0;
  for await (const numbers of slices((after) => reader.pages.numbersAfter(after, sliceSize))) {
    for (const no of numbers) {
      const line = pageLine(reader, no);
      if (line !== null) yield line;
    }
    done += numbers.length;
    terminal.progress(`${bar(done / all)} ${done} of ${all} pages`);
  }
  for await (const numbers of slices((after) => reader.queryLog.judgedAfter(after, sliceSize)))
    for (const no of numbers) yield* feedbackLines(reader, no);
}

/** The numbers of rows, a slice in each turn of the event loop. */
async function* slices(sliceAfter: (after: number) => number[]): AsyncGenerator<number[]> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const numbers = sliceAfter(after);
    yield numbers;
    after = numbers.at(-1);
    await new Promise(setImmediate);
  }
}

function pageLine(reader: StoreReader, no: number): ExportLine | null {
  const page = reader.pages.get(no);
  if (page === undefined) return null; // forgotten meanwhile
  return {
    kind: 'page',
    canonical_url: page.canonical_url,
    original_url: page.original_url,
    domain: page.domain,
    title: page.title,
    body_text: reader.pages.body(no) ?? null,
    content_hash: page.content_hash,
    sections: reader.pages.sections(no),
    source: page.source,
    metadata: page.metadata,
    first_seen_at: isoOf(page.first_seen_at),
    last_seen_at: isoOf(page.last_seen_at),
    visit_count: page.visit_count,
    ...(page.visits && { visits: visitTimes(page).map(isoOf) }),
  };
}

function feedbackLines(reader: StoreReader, no: number): ExportLine[] {
  const run = reader.queryLog.get(no);
  if (run === undefined) return [];
  return [...reader.queryLog.feedback(no)].flatMap(([pageNo, relevant]) => {
    const page = reader.pages.get(pageNo);
    if (page === undefined) return [];
    const { canonical_url } = page;
    return [{ kind: 'feedback' as const, query: run.query_text, canonical_url, relevant, at: isoOf(run.ts) }];
  });
}

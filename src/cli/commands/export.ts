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
  const counts = { pages: 0, rules: 0, watches: 0, feedback: 0 };
  const names = { page: 'pages', rule: 'rules', watch: 'watches', feedback: 'feedback' } as const;
  for await (const line of lines) {
    signal.throwIfAborted();
    if (line.kind in names) counts[names[line.kind as keyof typeof names]]++;
    if (!to.write(`${JSON.stringify(line)}\n`)) await once(to, 'drain', { signal });
  }
  return counts;
}

async function* exportLines({ now, terminal }: Context, reader: StoreReader): AsyncGenerator<ExportLine> {
  let lines = 0;
  const counted = (line: ExportLine): ExportLine => {
    lines++;
    return line;
  };
  yield counted({ kind: 'readback_export', version: exportVersion, exported_at: isoOf(now()) });
  for (const { pattern, kind, reason, created_at, canonicalized_by } of reader.blacklist.list().reverse()) {
    yield counted({ kind: 'rule', pattern, rule_kind: kind, canonicalized_by, reason, created_at: isoOf(created_at) });
  }
  for (const watch of reader.watches.list()) {
    const { url, identity, title, enabled, interval_hours, config, created_at } = watch;
    const common = { url, identity, title, enabled, interval_hours, config, created_at: isoOf(created_at) };
    yield counted({ kind: 'watch', watch_kind: watch.kind, ...common });
  }
  const all = Math.max(1, reader.pages.count());
  let done = 0;
  for (let after = 0; ; ) {
    const numbers = reader.pages.numbersAfter(after, sliceSize);
    for (const no of numbers) {
      const line = pageLine(reader, no);
      if (line !== null) yield counted(line);
    }
    done += numbers.length;
    terminal.progress(`${bar(done / all)} ${done} of ${all} pages`);
    const last = numbers.at(-1);
    if (last === undefined) break;
    after = last;
    await new Promise(setImmediate);
  }
  for (let after = 0; ; ) {
    const numbers = reader.queryLog.judgedAfter(after, sliceSize);
    for (const no of numbers) for (const line of feedbackLines(reader, no)) yield counted(line);
    const last = numbers.at(-1);
    if (last === undefined) break;
    after = last;
    await new Promise(setImmediate);
  }
  yield { kind: 'end', lines };
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

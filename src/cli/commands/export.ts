/** `readback export`: all user data as JSONL (src/domain/export.ts) or Markdown files, or pages as bookmarks. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { escapeUTF8 } from 'entities';
import { inParts } from '../../actors/system/background.ts';
import { areVisitsSound, visitTimes } from '../../compute/structures/visit-times.ts';
import { bylineOf } from '../../compute/text/byline.ts';
import { errorCode } from '../../domain/errors.ts';
import { type ExportLine, exportFile, exportVersion, type PageLine, pageFile } from '../../domain/export.ts';
import type { Page } from '../../domain/page.ts';
import { isoOf } from '../../domain/values.ts';
import { createFile, replaceFile, TEMPORARY_SUFFIX } from '../../files/durable-file.ts';
import type { StoreReader } from '../../store/store.ts';
import { type Context, tell, withStore } from '../context.ts';
import { bar, CliError, type ExitCode, exitCodes } from '../output.ts';

const sliceSize = 200;

export async function exportCommand(
  context: Context,
  path: string,
  { force = false, format = 'jsonl' }: { force?: boolean; format?: 'jsonl' | 'bookmarks' | 'markdown' },
): Promise<ExitCode> {
  const { terminal, signal, newId } = context;
  const counts = await withStore(context, async ({ reader }) => {
    const lines = exportLines(context, reader);
    if (format === 'markdown') {
      let folder = path;
      while (folder.length > 1 && folder.endsWith('/')) folder = folder.slice(0, -1);
      return writeFolder(lines, folder, `${folder}.${newId()}${TEMPORARY_SUFFIX}`, signal);
    }
    const writeLines = (to: NodeJS.WritableStream) =>
      format === 'bookmarks' ? writeBookmarks(reader, to, signal) : writeJson(lines, to, signal);
    if (path === '-') return writeLines(context.stdout);
    const write = (temporary: string) => writeFileBy(temporary, writeLines);
    const temporary = `${path}.${newId()}${TEMPORARY_SUFFIX}`; // `FILE.new` may be another file
    const placed = force ? replaceFile(path, write, temporary) : createFile(path, write, temporary);
    return placed.catch(refuseInWords(path));
  });
  terminal.progress('');
  if (path === '-') return exitCodes.done;
  return tell(context, { file: path, ...counts }, ({ say }) => {
    const parts = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
    const by = format === 'bookmarks' ? 'browsers import it' : `\`readback import ${path}\` imports it`;
    say(`${path}: ${parts.join(', ')}; ${by}`);
  });
}

/** Reports an existing file or a missing folder. The system's message would name the temporary file. */
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

async function writeFileBy<Counts>(path: string, write: (to: NodeJS.WritableStream) => Promise<Counts>) {
  const file = await open(path, 'wx', 0o600);
  const stream = file.createWriteStream();
  const counts = await write(stream);
  stream.end();
  await once(stream, 'close');
  return counts;
}

/** Each page becomes a Markdown file: facts as JSON front matter, then text. Other lines go to `readback.jsonl`. */
async function writeFolder(lines: AsyncIterable<ExportLine>, path: string, temporary: string, signal: AbortSignal) {
  if (path === '-' || existsSync(path)) throw new CliError(exitCodes.misuse, `${path} exists: name a new folder`);
  let no = 0;
  const others = async function* (): AsyncGenerator<ExportLine> {
    for await (const line of lines) {
      signal.throwIfAborted();
      if (line.kind !== 'page') yield line;
      else await writeFile(join(temporary, 'pages', pageFileName(line, ++no)), pageFile(line), { mode: 0o600 });
    }
  };
  try {
    await mkdir(join(temporary, 'pages'), { recursive: true, mode: 0o700 }).catch(refuseInWords(path));
    const counts = await writeFileBy(join(temporary, exportFile), (to) => writeJson(others(), to, signal, () => no));
    await rename(temporary, path);
    return counts;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

function pageFileName({ title, domain }: PageLine, no: number): string {
  const words = (title ?? domain).replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
  return `${String(no).padStart(8, '0')}-${Array.from(words).slice(0, 40).join('')}.md`;
}

/** Pages by folder. Dates are in seconds, and tags have no commas. */
async function writeBookmarks(reader: StoreReader, to: NodeJS.WritableStream, signal: AbortSignal) {
  const placed: [folder: string, no: number][] = [];
  for await (const numbers of inParts((after) => reader.pages.numbersAfter(after, sliceSize), Number))
    for (const no of numbers) placed.push([String([reader.pages.get(no)?.metadata?.folder ?? ''].flat()[0]), no]);
  const write = async (line: string) => {
    signal.throwIfAborted();
    if (!to.write(`${line}\n`)) await once(to, 'drain', { signal });
  };
  await write(
    '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">',
  );
  await write('<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>');
  let open: string[] = [];
  const enter = async (path: string[]) => {
    const shared = open.findIndex((name, level) => name !== path[level]);
    const kept = shared < 0 ? open.length : shared;
    for (const _ of open.slice(kept)) await write('</DL><p>');
    for (const name of path.slice(kept)) await write(`<DT><H3>${escapeUTF8(name)}</H3>\n<DL><p>`);
    open = path;
  };
  let pages = 0;
  for (const [folder, no] of placed.sort(([a], [b]) => (a === b ? 0 : a < b ? -1 : 1))) {
    const page = reader.pages.get(no);
    if (page === undefined) continue; // forgotten meanwhile
    await enter(folder.split('/').filter((part) => part !== ''));
    await write(bookmark(page));
    pages++;
  }
  await enter([]);
  await write('</DL><p>');
  return { pages };
}

function bookmark(page: Page): string {
  const { original_url, title, first_seen_at, metadata } = page;
  const tags = [metadata?.tags ?? []].flat().map((tag) => String(tag).replaceAll(',', ' '));
  const attributes = {
    HREF: original_url,
    ADD_DATE: Math.floor(first_seen_at / 1000),
    ...(tags.length > 0 && { TAGS: tags.join(',') }),
    ...(bylineOf(page).is.includes('unread') && { TOREAD: 1 }),
  };
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${escapeUTF8(String(value))}"`);
  const note = typeof metadata?.note === 'string' ? `\n<DD>${escapeUTF8(metadata.note)}` : '';
  return `<DT><A ${written.join(' ')}>${escapeUTF8(title ?? original_url)}</A>${note}`;
}

async function writeJson(
  lines: AsyncIterable<ExportLine>,
  to: NodeJS.WritableStream,
  signal: AbortSignal,
  pagesElsewhere = () => 0,
) {
  const counts = { readback_export: 0, page: 0, rule: 0, watch: 0, feedback: 0, end: 0 };
  const write = async (line: ExportLine) => {
    signal.throwIfAborted();
    counts[line.kind]++;
    if (!to.write(`${JSON.stringify(line)}\n`)) await once(to, 'drain', { signal });
  };
  for await (const line of lines) await write(line);
  const { rule: rules, watch: watches, feedback } = counts;
  const pages = counts.page + pagesElsewhere();
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
  for await (const numbers of inParts((after) => reader.pages.numbersAfter(after, sliceSize), Number)) {
    for (const no of numbers) {
      const line = pageLine(reader, no);
      if (line !== null) yield line;
    }
    done += numbers.length;
    terminal.progress(`${bar(done / all)} ${done} of ${all} pages`);
  }
  for await (const numbers of inParts((after) => reader.queryLog.judgedAfter(after, sliceSize), Number))
    for (const no of numbers) yield* feedbackLines(reader, no);
}

function pageLine(reader: StoreReader, no: number): ExportLine | null {
  const page = reader.pages.get(no);
  if (page === undefined) return null; // forgotten meanwhile
  const body_text = reader.pages.body(no) ?? null;
  return {
    kind: 'page',
    canonical_url: page.canonical_url,
    original_url: page.original_url,
    domain: page.domain,
    title: page.title,
    body_text,
    content_hash: body_text === null ? null : hash('sha256', body_text), // also right for a damaged text
    sections: reader.pages.sections(no),
    source: page.source,
    metadata: page.metadata,
    first_seen_at: isoOf(page.first_seen_at),
    last_seen_at: isoOf(page.last_seen_at),
    visit_count: page.visit_count,
    ...(page.visits && areVisitsSound(page) && { visits: visitTimes(page).map(isoOf) }),
    ...(page.visit_period_ms && { visit_period_ms: page.visit_period_ms }),
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

/** Output of commands: results on standard output, notes and progress on standard error, colours and bars on terminals only; exit codes. */
import { stripVTControlCharacters } from 'node:util';
import type { PageDetails } from '../domain/page.ts';
import { damagedExitCode } from '../store/look-apart.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  misuse: 2,
  unreachable: 3,
  inUse: 4,
  partly: 5,
  damaged: damagedExitCode,
  interrupted: 130,
} as const;

export const exitMeanings: readonly (readonly [number, string])[] = [
  [exitCodes.done, 'done'],
  [exitCodes.failed, 'failed, or a check found faults'],
  [exitCodes.misuse, 'arguments or settings are wrong'],
  [exitCodes.unreachable, 'the service is not running'],
  [exitCodes.inUse, 'the data folder is in use: stop the service first'],
  [exitCodes.partly, 'done in part: some items failed'],
  [exitCodes.damaged, 'the store is damaged: restore a backup'],
  [exitCodes.interrupted, 'interrupted; completed work is kept'],
];

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error shown as one line; every other error is a bug. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export type Terminal = ReturnType<typeof openTerminal>;

type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY'> & Partial<Pick<NodeJS.WriteStream, 'columns'>>;

const codes: Record<Style, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };
const drawEveryMs = 100;

interface TerminalOptions {
  stdout: Stream;
  stderr: Stream;
  /** `--no-color`, or NO_COLOR in the environment. */
  colors: boolean;
  monotonic: () => number;
  /** COLUMNS of the environment, which precedes the terminal's width. */
  columns?: number | undefined;
}

const usualColumns = 80;

export function columnsOf({ COLUMNS }: NodeJS.ProcessEnv): number | undefined {
  const columns = Number(COLUMNS);
  return Number.isInteger(columns) && columns >= 40 ? columns : undefined;
}

/** The terminal's width, up to a readable maximum. */
export function helpColumns(env: NodeJS.ProcessEnv, { columns = usualColumns }: { columns?: number }): number {
  return Math.min(100, columnsOf(env) ?? Math.max(40, columns));
}

export function openTerminal({ stdout, stderr, colors, monotonic, columns }: TerminalOptions) {
  let drawn = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  const clear = () => {
    if (drawn) stderr.write('\r\x1b[K');
    drawn = false;
  };
  const widthOf = (stream: Stream) =>
    columns ?? (stream.isTTY ? (stream.columns ?? usualColumns) : Number.POSITIVE_INFINITY);
  const print = (stream: Stream) => (text: string) => {
    clear();
    const lines = text.split('\n').flatMap((line) => folded(line, widthOf(stream)));
    stream.write(`${lines.join('\n')}\n`);
  };
  return {
    /** Prints lines; longer ones are folded. */
    say: print(stdout),
    /** Prints a line cut to the width. */
    line: (text: string) => print(stdout)(fitted(text, widthOf(stdout))),
    json(value: unknown) {
      clear();
      stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    note: print(stderr),
    /** Width of a line; infinite if standard output is not a terminal. */
    columns: widthOf(stdout),
    style: (style: Style, text: string) => (colors && stdout.isTTY ? `\x1b[${codes[style]}m${text}\x1b[0m` : text),
    /** A terminal link (OSC 8) if supported. The address must be a stored URL, without control characters. */
    link: (text: string, url: string) =>
      colors && stdout.isTTY && /^[\x21-\x7e]+$/.test(url) ? `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\` : text,
    /** Replaces the previous line, cut to the width, if standard error is a terminal. An empty text clears it. */
    progress(text: string) {
      if (!stderr.isTTY) return;
      if (text === '') return clear();
      if (monotonic() - drawnAt < drawEveryMs) return;
      drawnAt = monotonic();
      drawn = true;
      stderr.write(`\r\x1b[K${fitted(text, (stderr.columns ?? usualColumns) - 1)}`);
    },
  };
}

export function bar(share: number, width = 24): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/** Foreign text on one line, without control characters (escape sequences) and direction changes. */
export function plain(text: string, maxLength = Number.MAX_SAFE_INTEGER): string {
  const line = text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`;
}

export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => textWidth(row[column] ?? ''))));
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column]))).join('  '),
  );
}

export function durationText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (minutes < 90) return `${minutes} min`;
  return `${Math.round(minutes / 60)} h`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Maximum title width on a line with an address. */
const titleColumns = 40;

export function titled(title: string | null, address: string): string {
  const url = plain(address, 2000);
  return !title ? url : `${fitted(plain(title, 2000), titleColumns)} · ${url}`;
}

export function byline({ author, site_name, published_at }: Partial<PageDetails>): string {
  const facts = [author, site_name, published_at == null ? null : day(published_at)];
  return plain([...new Set(facts.filter((fact) => fact != null))].join(', '), 300);
}

export const day = (at: string): string => at.slice(0, 10);

export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;

/** East Asian characters and emoji take two columns. Source: Unicode Standard Annex 11, W and F by their blocks. */
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{RI}{2}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}])/u;
const zero = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
/** Node misses those whose address has commas or percent signs. */
const links = /\p{Cc}\]8;;\P{Cc}*\p{Cc}\\/gu;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Most text is narrow. */
const narrow = /^[\x20-\x7e\u00a1-\u02ff\u2010-\u2027…]*$/;

/** Width of a text in columns. Style sequences and addresses of links take none. */
export function textWidth(text: string): number {
  if (narrow.test(text)) return text.length;
  let width = 0;
  const shown = stripVTControlCharacters(text.replace(links, ''));
  for (const { segment } of graphemes.segment(shown)) width += widthOf(segment);
  return width;
}

/** Cut to a width, with an ellipsis. */
export function fitted(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** Lines of a maximum width after `indent`, broken at spaces, or within a word longer than a line if `breaksWords`. */
export function wrapped(text: string, columns: number, indent = '', breaksWords = true): string[] {
  const room = Math.max(1, columns - textWidth(indent));
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (textWidth(longer) <= room) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = breaksWords ? '' : word;
    if (!breaksWords) continue;
    for (const { segment } of graphemes.segment(word)) {
      if (textWidth(line + segment) > room) {
        lines.push(line);
        line = '';
      }
      line += segment;
    }
  }
  return [...lines, line].map((each) => indent + each);
}

/** Lines of a maximum width, continued under the last column. Words stay whole, so that addresses can be copied. */
export function folded(line: string, columns: number): string[] {
  if (textWidth(line) <= columns) return [line];
  const starts = Array.from(line.matchAll(/\S+(?: \S+)*/g), ({ index }) => index);
  const start = starts.findLast((each) => textWidth(line.slice(0, each)) <= columns / 2) ?? 0;
  const indent = ' '.repeat(textWidth(line.slice(0, start)));
  const [first, ...others] = wrapped(line.slice(start), columns, indent, false);
  return [line.slice(0, start) + first.slice(indent.length), ...others];
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

function widthOf(grapheme: string): number {
  if (zero.test(grapheme)) return 0;
  return wide.test(grapheme) ? 2 : 1;
}

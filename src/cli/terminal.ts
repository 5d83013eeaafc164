/** What commands write to and ask at: lines on standard output, remarks and progress on standard error; colours and bars on a terminal only. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fitted, padded, textWidth } from './text-width.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export interface Terminal {
  /** A line of the answer. */
  say(line: string): void;
  /** The answer as JSON, one document. */
  json(value: unknown): void;
  /** A remark beside the answer. */
  note(line: string): void;
  style(style: Style, text: string): string;
  /** The text as a link, where the terminal may know how to open one (OSC 8); the address as URLs are stored, without control characters. */
  link(text: string, url: string): string;
  /** Columns that a line of the answer may have; no end of them where standard output is no terminal. */
  columns: number;
  /** Draw over the line of before, as much as has room; nothing where standard error is no terminal. An empty text clears it. */
  progress(text: string): void;
  /** Whether there is somebody to ask: standard input and standard error are a terminal. */
  asks: boolean;
  /** Ask a question of yes or no; nothing said is no. Errors: the reason of the signal. */
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
}

type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY'> & Partial<Pick<NodeJS.WriteStream, 'columns'>>;

const codes: Record<Style, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };
/** Progress is drawn so often, ms. */
const drawEveryMs = 100;

export interface TerminalOptions {
  stdout: Stream;
  stderr: Stream;
  /** What questions are answered at; nobody is asked without. */
  stdin?: NodeJS.ReadStream;
  /** `--no-color`, or NO_COLOR in the environment. */
  colors: boolean;
  monotonic: () => number;
  /** COLUMNS of the environment, which goes before what the terminal says. */
  columns?: number | undefined;
}

/** What a terminal has that does not say. */
const usualColumns = 80;

/** COLUMNS, where it is a number that lines can be fitted to. */
export function columnsOf({ COLUMNS }: NodeJS.ProcessEnv): number | undefined {
  const columns = Number(COLUMNS);
  return Number.isInteger(columns) && columns >= 40 ? columns : undefined;
}

/** How wide help is: as the terminal, but no wider than is read with ease. */
export function helpColumns(env: NodeJS.ProcessEnv, { columns = usualColumns }: { columns?: number }): number {
  return Math.min(100, columnsOf(env) ?? Math.max(40, columns));
}

export function openTerminal({ stdout, stderr, stdin, colors, monotonic, columns }: TerminalOptions): Terminal {
  let drawn = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  const clear = () => {
    if (drawn) stderr.write('\r\x1b[K');
    drawn = false;
  };
  return {
    say(line) {
      clear();
      stdout.write(`${line}\n`);
    },
    json(value) {
      clear();
      stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    note(line) {
      clear();
      stderr.write(`${line}\n`);
    },
    columns: columns ?? (stdout.isTTY ? (stdout.columns ?? usualColumns) : Number.POSITIVE_INFINITY),
    style: (style, text) => (colors && stdout.isTTY ? `\x1b[${codes[style]}m${text}\x1b[0m` : text),
    link: (text, url) =>
      colors && stdout.isTTY && /^[\x21-\x7e]+$/.test(url) ? `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\` : text,
    progress(text) {
      if (!stderr.isTTY) return;
      if (text === '') return clear();
      if (monotonic() - drawnAt < drawEveryMs) return;
      drawnAt = monotonic();
      drawn = true;
      stderr.write(`\r\x1b[K${fitted(text, (stderr.columns ?? usualColumns) - 1)}`);
    },
    asks: stdin?.isTTY === true && stderr.isTTY === true,
    async confirm(question, signal) {
      clear();
      stderr.write(`${question} [y/N] `);
      if (stdin === undefined) return false;
      // Not a terminal to readline: it would take Ctrl-C for itself.
      const lines = createInterface({ input: stdin, terminal: false });
      try {
        const [said = ''] = await Promise.race([once(lines, 'line', { signal }), once(lines, 'close', { signal })]);
        return /^\s*y(es)?\s*$/i.test(said);
      } catch (error) {
        stderr.write('\n');
        signal.throwIfAborted();
        throw error;
      } finally {
        lines.close();
        stdin.pause();
      }
    },
  };
}

/** A bar for a share of 0 to 1. */
export function bar(share: number, width = 24): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/**
 * Text of pages and of servers as a terminal may show it: on one line, without control characters (escape sequences of a hostile page,
 * above all) and without those that turn the direction of writing.
 */
export function plain(text: string, maxLength = Number.MAX_SAFE_INTEGER): string {
  const line = text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** Columns of equal width; the last one as long as it is. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => textWidth(row[column] ?? ''))));
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column]))).join('  '),
  );
}

/** So many seconds, as one says it. */
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

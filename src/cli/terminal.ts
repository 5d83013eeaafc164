/** Output of commands: results on standard output, notes and progress on standard error; colours and bars on terminals only. */

import type { PageDetails } from '../domain/page.ts';
import { fitted, folded, padded, textWidth } from './text-width.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export interface Terminal {
  /** Prints lines; longer ones are folded. */
  say(text: string): void;
  json(value: unknown): void;
  note(text: string): void;
  style(style: Style, text: string): string;
  /** A terminal link (OSC 8) if supported. The address must be a stored URL, without control characters. */
  link(text: string, url: string): string;
  /** Width of a line; infinite if standard output is no terminal. */
  columns: number;
  /** Replaces the previous line, cut to the width; nothing if standard error is no terminal. Empty text clears it. */
  progress(text: string): void;
}

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

export function openTerminal({ stdout, stderr, colors, monotonic, columns }: TerminalOptions): Terminal {
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
    say: print(stdout),
    json(value) {
      clear();
      stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    note: print(stderr),
    columns: widthOf(stdout),
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
  return title === null ? url : `${fitted(plain(title, 2000), titleColumns)} · ${url}`;
}

export function byline({ author, site_name, published_at }: Partial<PageDetails>): string {
  const facts = [author, site_name, published_at == null ? null : day(published_at)];
  return plain([...new Set(facts.filter((fact) => fact != null))].join(', '), 300);
}

export const day = (at: string): string => at.slice(0, 10);

export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;

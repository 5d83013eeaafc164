/** The log: one JSON object a line on standard output, or readable lines. Lines have a bounded length and never contain the given secrets. */
import { destination, type Logger, pino, stdTimeFunctions } from 'pino';

export interface LogOptions {
  json_logs: boolean;
  log_level: string;
  secrets?: readonly string[];
}

export interface LineSink {
  write(line: string): unknown;
}

/** Texts in longer lines are shortened, so that no hostile title floods the log. */
const maxLineLength = 8192;
const maxTextLength = 512;
/** Min length of a hidden secret: shorter ones would hide half of every line. */
const minSecretLength = 4;

const cutText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;

function bounded(line: string): string {
  if (line.length <= maxLineLength) return line;
  const cut = JSON.stringify(JSON.parse(line), cutText);
  if (cut.length <= maxLineLength) return `${cut}\n`;
  const { level, time, msg } = JSON.parse(cut);
  return `${JSON.stringify({ level, time, msg, cut: true })}\n`;
}

/** `12:00:00.000 info  message key="value"`. Values are JSON, so control characters stay escaped. */
function forPeople(line: string): string {
  const { level, time, msg, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(line);
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const message = JSON.stringify(msg ?? '').slice(1, -1);
  return `${String(time).slice(11, 23)} ${(pino.levels.labels[level] ?? 'info').padEnd(5)} ${message}${fields.join('')}\n`;
}

/** Hides secrets, plain and as JSON. Longest first, because one may contain another. */
function hidden(secrets: readonly string[]): (line: string) => string {
  const texts = secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  return (line) => texts.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), line);
}

export function createLog(options: LogOptions, sink: LineSink = destination({ dest: 1, sync: true })): Logger {
  const hide = hidden(options.secrets ?? []);
  const format = options.json_logs ? (line: string) => line : forPeople;
  return pino(
    {
      level: options.log_level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: ['authorization', '*.authorization', '*.api_key', '*.token'], censor: '[hidden]' },
    },
    { write: (line: string) => sink.write(hide(format(bounded(line)))) },
  );
}

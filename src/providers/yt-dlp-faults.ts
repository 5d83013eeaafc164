/** Maps yt-dlp's messages to faults. Others are quoted without addresses, quotations, and details of this machine. */
import { stripVTControlCharacters } from 'node:util';
import list from '../../models/yt-dlp-faults.json' with { type: 'json' };
import { FetchError, type FetchErrorOptions, type FetchFault } from './fetch-error.ts';

const longestTold = 120;

interface Sign {
  /** `i` by default. */
  flags?: string;
  pattern: string;
  code: FetchFault;
  message: string;
  /** A site that refuses this service is paused for an hour. An unreleased video is checked again after six hours. */
  options?: FetchErrorOptions;
}

const signs = (list as readonly Sign[]).map((sign) => ({
  ...sign,
  pattern: new RegExp(sign.pattern, sign.flags ?? 'i'),
}));

/** Network errors, for which the proxy has better information. */
const networkSign =
  /HTTP Error (?:403|50\d)|Tunnel connection failed|urlopen error|timed out|IncompleteRead|Connection|Remote end|fragment \d+ not found/i;

/** The fault of a failed run. `complaint`: the end of its standard error; `refusal`: what the proxy refused. */
export function ytDlpFault(complaint: string, refusal: FetchError | null): FetchError {
  const said =
    complaint.split('\n').findLast((line) => line.startsWith('ERROR:')) ?? complaint.trim().split('\n').at(-1) ?? '';
  if (refusal !== null && networkSign.test(said)) return refusal;
  const sign = signs.find(({ pattern }) => pattern.test(said));
  if (sign !== undefined) return new FetchError(sign.code, sign.message, sign.options);
  const status = /HTTP Error (\d{3})/.exec(said)?.[1];
  if (status !== undefined) {
    const permanent = status === '404' || status === '410';
    return new FetchError('http_status', `HTTP ${status}`, { status: Number(status), permanent });
  }
  const told = plainWords(said);
  return new FetchError('program_failed', told === '' ? 'yt-dlp failed' : `yt-dlp failed: ${told}`);
}

/** The message without addresses, quotations, paths, video ids and colours. */
function plainWords(said: string): string {
  return stripVTControlCharacters(said.slice(0, 2000))
    .replace(/^ERROR:\s*/, '')
    .replace(/^\[[\w:+-]{1,60}\]\s+(?:\S{1,200}:\s)?/, '')
    .replace(/; please report this issue.*/s, '')
    .replace(/\(caused by.*/s, '')
    .replace(/(["'`]).*\1/gs, '…')
    .replace(/(?<!\S)(?=\S*(?:[/\\@]|\d{3}))\S+/g, '…')
    .replace(/[^\x20-\x7e…]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, longestTold);
}

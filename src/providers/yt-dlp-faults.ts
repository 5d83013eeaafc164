/** Maps yt-dlp's messages to faults. Others are quoted without addresses, quotations and anything from this machine. */
import { stripVTControlCharacters } from 'node:util';
import { FetchError, type FetchErrorOptions, type FetchFault } from './fetch-error.ts';

/** How long a site that refuses this service is left alone, ms. */
const enoughForMs = 3_600_000;
/** When an unreleased video is checked again, ms. */
const laterMs = 6 * 3_600_000;
const longestTold = 120;

interface Sign {
  pattern: RegExp;
  code: FetchFault;
  message: string;
  options?: FetchErrorOptions;
}

const signs: readonly Sign[] = [
  { pattern: /Unsupported URL/, code: 'no_video', message: 'no video is at this address' },
  {
    pattern: /not a bot|unusual traffic/i,
    code: 'challenge',
    message: 'the site takes this service for a robot',
    options: { permanent: false, retryAfterMs: enoughForMs },
  },
  {
    pattern: /HTTP Error 429|Too Many Requests/,
    code: 'http_status',
    message: 'HTTP 429',
    options: { status: 429, retryAfterMs: enoughForMs },
  },
  {
    pattern: /Requested format is not available|No video formats found/,
    code: 'no_text',
    message: 'the video has no sound that can be loaded',
  },
  { pattern: /File too large|Errno 27\b/, code: 'too_large', message: 'larger than may be loaded' },
  { pattern: /CERTIFICATE_VERIFY_FAILED|\bSSL\b/, code: 'tls', message: 'TLS failure' },
  { pattern: /timed out/i, code: 'timeout', message: 'the site does not answer' },
  {
    pattern: /urlopen error|IncompleteRead|Connection reset|Remote end|fragment \d+ not found/i,
    code: 'broken_answer',
    message: 'the answer broke off',
  },
  {
    pattern: /premieres in|live event will begin|begins? in|upcoming/i,
    code: 'video_unfinished',
    message: 'the video has not been shown yet',
    options: { retryAfterMs: laterMs },
  },
  {
    pattern:
      /private video|video is private|members-only|join this channel|log ?in|sign in|--cookies|registered users/i,
    code: 'login_wall',
    message: 'the video is not public',
  },
  {
    pattern: /in your (?:country|location|region)|geo.?restrict/i,
    code: 'video_unavailable',
    message: 'the video is not shown in this country',
  },
  {
    pattern:
      /video (?:is )?(?:unavailable|not available)|been removed|no longer available|been terminated|does not exist/i,
    code: 'video_unavailable',
    message: 'the video is not available',
  },
];

/** Network errors, about which the proxy knows more. */
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

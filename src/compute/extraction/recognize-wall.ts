/**
 * Recognizes captchas, logins, consent dialogs and errors with status 200. Pages about these must pass, so such words
 * count only with a matching heading, and longer texts need more evidence.
 */
import signs from '../../../models/walls.json' with { type: 'json' };

export const wallNames = {
  challenge: 'challenge page',
  login_wall: 'login page',
  cookie_wall: 'cookie wall',
  error_page: 'error page',
  needs_script: 'a page that needs JavaScript',
};
export type Wall = keyof typeof wallNames;

export interface AnsweredPage {
  title: string | null;
  text: string;
  html: string;
}

/** Max characters of a text with only a heading, or with mostly such words. */
const barely = 160;
/** Max characters with a heading and words. */
const short = 600;
/** Max characters with a certain sign in the source, or with a heading and a hint. */
const modest = 1500;
/** Max characters of an empty shell before its scripts run. */
const loading = 40;
/** Min share of such words in a bare text, and in a text submitted under the title of a wall. */
const ownShare = 0.4;
const submittedShare = 0.6;
const sourceLength = 200_000;

/** Messages of an empty shell. Most are in `noscript`, which is not readable text. */
const needsScript = anyOf(signs.needs_script);

/**
 * `certain`: occurs only in the source of such pages; `hint`: occurs elsewhere, too. `heading`: complete title or first
 * line, with or without the site's name. `unmistakable`: words of walls only, which do not need the source.
 */
const compiled = (['challenge', 'login_wall', 'cookie_wall', 'error_page'] as const).map((wall) => {
  const { certain, hint, heading, words, unmistakable } = signs[wall];
  const marks = Object.values<string>(certain);
  return {
    wall,
    certain: marks.length === 0 ? null : new RegExp(marks.join('|'), 'i'),
    hint: hint === null ? null : new RegExp(hint, 'i'),
    heading: new RegExp(`^(?:${heading.join('|')})[ .!?…:)]*$`, 'i'),
    words: anyOf(words),
    unmistakable: anyOf(unmistakable),
  };
});

/** Null for an ordinary page. Linear in the source. */
export function recognizeWall({ title, text, html }: AnsweredPage): Wall | null {
  const { length } = text;
  if (length > modest) return null;
  const source = html.slice(0, sourceLength);
  const said = plainQuotes(text);
  const headings = [...headingsOf(plainQuotes(title ?? '')), firstLineOf(said)];
  for (const { wall, certain, hint, heading, words } of compiled) {
    if (certain?.test(source)) return wall;
    const isHeaded = headings.some((line) => heading.test(line));
    if (isHeaded && (length <= barely || hint?.test(source))) return wall;
    if (isHeaded && length <= short && said.search(words) !== -1) return wall;
    if (shareOf(said, words) >= ownShare) return wall;
  }
  if (shareOf(said, needsScript) >= ownShare) return 'needs_script';
  if (length > loading) return null;
  return wordsWithoutScript(source).search(needsScript) === -1 ? null : 'needs_script';
}

/**
 * For a text submitted without its page. Null: not a wall. A wall has the heading of a wall as its title or first line,
 * and words that only walls have, or hardly any other words.
 */
export function recognizeWallText(title: string | null, text: string): Wall | null {
  if (text.length > short) return null;
  const said = plainQuotes(text);
  const headings = headingsOf(plainQuotes(title ?? firstLineOf(said)));
  const isHeading = (line: string) => headings.some((each) => each.toLowerCase() === line.trim().toLowerCase());
  const lines = said.split('\n').filter((line) => !isHeading(line));
  const found = compiled.find(({ heading, words, unmistakable }) => {
    if (!headings.some((line) => heading.test(line))) return false;
    if (lines.join('\n').search(unmistakable) !== -1) return true;
    if (title === null) return false;
    const others = lines
      .flatMap((line) => line.split(/(?<=[.!?]) /))
      .filter((sentence) => !heading.test(sentence.trim()));
    return others.every((sentence) => sentence.trim() === '') || shareOf(others.join('\n'), words) >= submittedShare;
  });
  return found?.wall ?? null;
}

export function isWallTitle(title: string): boolean {
  return compiled.some(({ heading }) => heading.test(plainQuotes(title.trim())));
}

function wordsWithoutScript(source: string): string {
  const said: string[] = [];
  let at = 0;
  while (said.length < 20) {
    const start = source.indexOf('<noscript', at);
    const end = start === -1 ? -1 : source.indexOf('</noscript', start);
    if (end === -1) break;
    said.push(source.slice(start, Math.min(end, start + 5000)).replace(/<[^<>]*>/g, ' '));
    at = end;
  }
  return said.join(' ');
}

/** The title, and its parts without the site's name. */
function headingsOf(title: string): string[] {
  return [title, ...title.split(/ [|–—·»:-]+ |: | \| ?/)].map((line) => line.trim()).filter((line) => line !== '');
}

const firstLineOf = (text: string): string => (text.slice(0, barely).split('\n', 1)[0] ?? '').trim();

/** Share of such words; 0 for a longer text. */
function shareOf(text: string, words: RegExp): number {
  if (text.length === 0 || text.length > barely) return 0;
  const matched = [...text.matchAll(words)].reduce((sum, [match]) => sum + match.length, 0);
  return matched / text.length;
}

function plainQuotes(text: string): string {
  return text.replace(/[’‘`´]/g, "'");
}

function anyOf(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'gi');
}

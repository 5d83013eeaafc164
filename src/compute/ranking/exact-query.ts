/** What a query asks for literally: a title, a URL, or quoted phrases. Pure; called by the retriever. */
import { foldTitle } from '../../domain/fold-title.ts';

const quoted = /["“”«»„]([^"“”«»„]+)["“”«»„]/gu;

/** The query without quotation marks around the whole of it. */
export function titleOfQuery(query: string): string {
  const whole = /^\s*["“”«»„]([^"“”«»„]+)["“”«»„]\s*$/u.exec(query);
  return whole === null ? query : whole[1];
}

/** Whether the query could be a URL at all: worth canonicalising. */
export function looksLikeUrl(query: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]*:\/\/\S+\s*$/i.test(query);
}

/** Phrases in quotation marks, folded as titles are; empty ones are none. */
export function quotedPhrases(query: string): string[] {
  return Array.from(query.matchAll(quoted), ([, phrase]) => foldTitle(phrase)).filter((phrase) => phrase !== '');
}

/** Whether every phrase stands in the text, case and white space folded. */
export function holdsPhrases(text: string, phrases: readonly string[]): boolean {
  if (phrases.length === 0) return false;
  const folded = foldTitle(text);
  return phrases.every((phrase) => folded.includes(phrase));
}

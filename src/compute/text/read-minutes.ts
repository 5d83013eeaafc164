/** How long a text takes to read. */

/** Silent reading of English non-fiction: Brysbaert 2019, over 190 studies. */
const wordsPerMinute = 238;
/** Written without spaces: their words are counted by characters, of which one has about two. */
const ofCharacters = /^(?:zh|ja|ko)(?:-|$)/;

/** Whole minutes, at least one; null for no words. `language`: BCP 47. */
export function readMinutes(words: number, language: string | null): number | null {
  if (words === 0) return null;
  const perMinute = ofCharacters.test(language ?? '') ? 2 * wordsPerMinute : wordsPerMinute;
  return Math.max(1, Math.round(words / perMinute));
}

/** In which language a page is, for the recogniser: few words in a row of names tell it badly, so function words have a say. */
import { stopWordsOf } from '../text/stop-words.ts';
import { functionWords } from './name-cues.ts';
import type { TextToken } from './read-tokens.ts';

/** Of a page's words in lower case, so many are function words of English where it is in English. */
const englishShare = 0.2;
/** Of fewer words the share says little, and of so few nothing does. */
const tellingWords = 40;
const fewWords = 5;
const letters = /^\p{L}/u;

/**
 * ISO 639-1 code; '' for none that can be told. `detected`: what its opening looks like. It is English only if it has more function words
 * of English than of that language.
 */
export function pageLanguage(tokens: readonly TextToken[], detected: string): string {
  const stopWords = stopWordsOf(detected);
  let [small, english, own] = [0, 0, 0];
  for (const { isWord, isCapitalized, lower } of tokens) {
    if (!isWord || isCapitalized || !letters.test(lower)) continue;
    small++;
    if (functionWords.has(lower)) english++;
    if (stopWords.has(lower)) own++;
  }
  const isForeign = small >= tellingWords && english < englishShare * small;
  if (detected === 'en' || detected === '') return isForeign ? '' : 'en';
  if (isForeign || own > english) return detected;
  return english === 0 && small >= fewWords ? detected : 'en';
}

/** Languages that put an apostrophe between a name and its endings: `Ankara'dan`. */
const withApostrophe: ReadonlySet<string> = new Set(['tr', 'az']);
const inflected = /^(\p{Lu}[^'’]*)['’]\p{Ll}+$/u;

/** The tokens, names without the endings that such a language hangs on them: these are a token each, and no word. */
export function withoutEndings(tokens: readonly TextToken[], language: string): readonly TextToken[] {
  if (!withApostrophe.has(language)) return tokens;
  return tokens.flatMap((token) => {
    const name = inflected.exec(token.text)?.[1];
    if (name === undefined) return [token];
    const at = token.start + name.length;
    const ending = token.text.slice(name.length);
    return [
      { ...token, text: name, lower: name.toLowerCase(), end: at },
      { ...token, text: ending, lower: ending, start: at, isFirst: false, isWord: false, isCapitalized: false },
    ];
  });
}

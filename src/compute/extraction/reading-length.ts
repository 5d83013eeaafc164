/** Amount of text to read; distinguishes sentences from labels. */

/** Letters that equal a character of these scripts. */
const lettersOfSign = 2.5;
const signs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const hasSign = /[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** In letters; characters of Chinese, Japanese and Korean count as several. */
export function readingLength(text: string): number {
  return hasSign.test(text) ? text.length + (text.match(signs)?.length ?? 0) * (lettersOfSign - 1) : text.length;
}

/** Other forms that find a text: `wifi` for `Wi-Fi`, `user` for `getUserName`, `1.2` for `1.2.3`. Linear. */
import { normalizeText, withoutJoiners } from '../../domain/normalize-text.ts';

/** UTF-16 offsets of the written form. */
export interface OtherForm {
  start: number;
  end: number;
  word: string;
  /** `joined`: several words as one; `part`: of a longer word, not searched for it; `name`: with its marks. */
  kind: 'joined' | 'part' | 'name';
}

const letters = String.raw`[\p{L}\p{M}\p{N}\p{Join_C}\u00ad]`;
const letter = new RegExp(letters, 'u');
const digit = /\p{N}/u;
const longestPart = 64;
/** Words joined by hyphens and the like, and names such as `O'Reilly`. */
const chain = new RegExp(
  `${letters}{1,${longestPart}}(?:(?:[-\\u2010\\u2011_.]|['’ʼ](?=\\p{Lu}\\p{Ll}))${letters}{1,${longestPart}}){1,16}`,
  'uy',
);
const joiner = /[-\u2010\u2011_.'’ʼ]/g;
/** `node.js`; longer ones are host names. */
const dottedPair = /^\p{L}[\p{L}\p{M}\p{N}]*\.\p{L}[\p{L}\p{M}\p{N}]*$/u;
/** Longer chains (`state-of-the-art-work`) have no joined spelling. */
const mostJoined = 3;
const longestJoined = 24;
/** `10-year` never becomes `10year`: the tokenizers split it anyway. */
const splitAnyway = /^\p{N}+$/u;
const hump = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u;
const wholeWord = /(?<![\p{L}\p{N}])\p{L}[\p{L}\p{N}]{2,80}(?![\p{L}\p{N}])/gu;
const camelPart = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}{2,}|\p{Lu}{2,}/gu;
const version = /(?<![\p{N}.])\p{N}{1,10}(?:\.\p{N}{1,10}){2,4}(?!\.?\p{N})/gu;
const mail = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
/** `.NET`, `.gitignore`. */
const dotName = /(?<![^\s([{"'“„«])\.\p{L}[\p{L}\p{N}]{1,40}(?![\p{L}\p{N}.])/gu;

export function otherForms(text: string): OtherForm[] {
  const { chains, hasVersion, hasDotName } = chainsOf(text);
  const forms = joinedForms(chains);
  const add = (kind: OtherForm['kind'], start: number, written: string) =>
    forms.push({ kind, start, end: start + written.length, word: lowered(written) });
  for (const { 0: written, index } of hump.test(text) ? text.matchAll(wholeWord) : []) {
    if (!hump.test(written)) continue;
    const parts = [...written.matchAll(camelPart)];
    if (parts.length < 2) continue; // `iPhone`
    if (parts.length < 3 && !/^\p{Ll}/u.test(written) && !isOfCode(text, index, index + written.length)) continue;
    for (const { 0: part, index: at } of parts) add('part', index + at, part);
  }
  for (const { 0: written, index } of hasVersion ? text.matchAll(version) : []) {
    const second = written.indexOf('.', written.indexOf('.') + 1);
    for (let at = second; at >= 0; at = written.indexOf('.', at + 1)) add('part', index, written.slice(0, at));
  }
  if (text.includes('@')) for (const { 0: written, index } of text.matchAll(mail)) add('name', index, written);
  if (hasDotName) for (const { 0: written, index } of text.matchAll(dotName)) add('name', index, written);
  return forms;
}

/** Examines only the marks, which are few: the patterns would take ten times as long for a whole text. */
function chainsOf(text: string) {
  const chains: { written: string; index: number }[] = [];
  const isLetter = (at: number) => at >= 0 && at < text.length && isOf(letter, text, at);
  let [end, hasVersion, hasDotName] = [0, false, false];
  for (const { 0: mark, index } of text.matchAll(joiner)) {
    if (mark === '.') {
      hasVersion ||= index > 0 && isOf(digit, text, index - 1) && isOf(digit, text, index + 1);
      hasDotName ||= !isLetter(index - 1) && isLetter(index + 1);
    }
    if (index <= end || !isLetter(index - 1) || !isLetter(index + 1)) continue;
    let start = index - 1;
    while (start > end && index - start < longestPart && isLetter(start - 1)) start--;
    chain.lastIndex = start;
    const written = chain.exec(text)?.[0];
    if (written === undefined) continue;
    chains.push({ written, index: start });
    end = start + written.length;
  }
  return { chains, hasVersion, hasDotName };
}

/** Whether the character of this UTF-16 unit matches. */
function isOf(pattern: RegExp, text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const isSecond = unit >= 0xdc00 && unit <= 0xdfff && at > 0;
  return pattern.test(String.fromCodePoint(text.codePointAt(isSecond ? at - 1 : at) ?? 0));
}

/** Two capitalized parts are a name (`JavaScript`), unless code is around them: `HttpClient(`. */
function isOfCode(text: string, start: number, end: number): boolean {
  return (
    /[.:]$/.test(text.slice(Math.max(0, start - 4), start)) || /^(?:[(<]|::|\.\p{L})/u.test(text.slice(end, end + 3))
  );
}

/** `Wi-Fi` as one word. Of three words, also each adjacent pair. */
function joinedForms(chains: readonly { written: string; index: number }[]): OtherForm[] {
  const forms: OtherForm[] = [];
  for (const { written, index } of chains) {
    const words = written.split(joiner);
    if (words.length > mostJoined || (written.includes('.') && !dottedPair.test(written))) continue;
    const ends: number[] = [];
    for (const word of words) ends.push((ends.at(-1) ?? index - 1) + 1 + word.length);
    for (let last = 1; last < words.length; last++) {
      for (let first = last - 1; first >= 0; first--) {
        const word = words.slice(first, last + 1).join('');
        if (word.length > longestJoined || splitAnyway.test(words[first])) continue;
        forms.push({
          kind: 'joined',
          start: ends[first] - words[first].length,
          end: ends[last],
          word: lowered(word),
        });
      }
    }
  }
  return forms;
}

function lowered(word: string): string {
  return withoutJoiners(normalizeText(word, 'NFC')).toLowerCase();
}

/** The names that a page mentions, from the encoder's spans: each once, as written, with its places. Linear. */
import { foldName, withoutJoiners } from '../../domain/normalize-text.ts';
import { headingOf, type PassageToEmbed } from '../embedding/embedding-text.ts';
import type { NameSpans, NameType } from './name-tags.ts';
import { nameTypes } from './name-tags.ts';
import { variantOf } from './name-variants.ts';

export interface MentionedName {
  type: NameType;
  /** Folded name; unique among names of one type. */
  key: string;
  /** Spellings with places: UTF-16 offsets into the body, start and end alternating. Title places are below 0. */
  forms: [form: string, places: number[]][];
}

/** Max names per page. The most mentioned are kept; of equals, the first. */
const maxNames = 200;
const maxNameLength = 100;
const maxNameWords = 10;
/** Max spans of a page: some 100,000 words. */
const maxSpans = 20_000;

const word = /[\p{L}\p{M}\p{N}]+/gu;
const letter = /\p{L}/u;
const capital = /\p{Lu}/u;
const hasCase = /[\p{Lu}\p{Ll}]/u;
/** Characters before a name that do not belong to it. */
const leading = /^[^\p{L}\p{N}$€£@#]+/u;
const trailing = /(?<![^\p{L}\p{M}\p{N})\]+#!?.’'])[^\p{L}\p{M}\p{N})\]+#!?.’']+$/u;
const possessive = /(?:['’ʼ＇]s|(?<=s)['’ʼ＇])$/u;
/** Points that belong to the preceding word: initials and short abbreviations. */
const abbreviation = /(?:^|[\s.])\p{Lu}\.$|(?:^|\s)(?:Jr|Sr|Inc|Corp|Co|Ltd|Bros|St|Mt|No|Dr|Mr|Mrs)\.$/u;
const address = /:\/\/|www\.|@[^\s@]+\.|^@?[\w-]+\.(?:com|org|net|html?|js|ts|py)$/iu;
const amount = /\p{Sc}\s?\p{N}/u;
const ofAddress = /^[\w./?%&=#:~+,;@!$*-]*$/u;
const code = /[{}<>=;\\^~|_]|\(\)|::|\p{Ll}\(/u;

/** Whether it is a line of code, of a menu or of numbers. Words in it are not used as names. */
function isNoProse(line: string): boolean {
  const visible = line.replace(/\s+/gu, '');
  if (visible.length < 8) return false;
  const digits = visible.match(/\p{N}/gu)?.length ?? 0;
  if (digits * 2 > visible.length) return true;
  const signs = visible.match(/[{}<>=;\\^~$_`]|\(\)|=>|::|&&|\|\|/gu)?.length ?? 0;
  if (signs >= 3 && signs * 12 > visible.length) return true;
  return (line.match(/\s[|›»·•/>]\s/gu)?.length ?? 0) >= 3;
}

interface Mention {
  type: number;
  start: number;
  end: number;
  form: string;
}

/** Moves a passage's spans to places of the page. Drops those of its section's heading; title places are below 0. */
export function spansInPage(spans: NameSpans, { title, bodyAt, charStart }: Omit<PassageToEmbed, 'text'>): NameSpans {
  const placed: NameSpans = [];
  for (let at = 0; at < spans.length; at += 3) {
    const [start, end, type] = spans.slice(at, at + 3);
    if (start >= bodyAt) placed.push(start - bodyAt + charStart, end - bodyAt + charStart, type);
    else if (end <= title) placed.push(start - title - 1, end - title - 1, type);
  }
  return placed;
}

/** `spans`: of all passages, which may overlap. */
export function namesOfPage(title: string | null, body: string, spans: NameSpans): MentionedName[] {
  const mentions = mentionsIn(headingOf(title), body, spans);
  const names = new Map<string, { types: number[]; mentions: Mention[] }>();
  for (const mention of mentions) {
    const key = foldName(mention.form);
    const name = names.get(key) ?? { types: nameTypes.map(() => 0), mentions: [] };
    name.types[mention.type]++;
    name.mentions.push(mention);
    names.set(key, name);
  }
  shareTypes(names);
  joinSurnames(names);
  const kept = [...names.entries()]
    .sort(([, a], [, b]) => b.mentions.length - a.mentions.length || a.mentions[0].start - b.mentions[0].start)
    .slice(0, maxNames);
  return kept
    .sort(([, a], [, b]) => a.mentions[0].start - b.mentions[0].start)
    .map(([key, { types, mentions: ofName }]) => ({ type: typeOf(types), key, forms: formsOf(ofName) }));
}

const typeOf = (types: readonly number[]): NameType => nameTypes[types.indexOf(Math.max(...types))];

function formsOf(mentions: readonly Mention[]): MentionedName['forms'] {
  const forms = new Map<string, number[]>();
  for (const { form, start, end } of mentions) {
    const places = forms.get(form) ?? [];
    places.push(start, end);
    forms.set(form, places);
  }
  return [...forms];
}

/** In text order, without overlaps. Those of the title come first. */
function mentionsIn(title: string, body: string, spans: NameSpans): Mention[] {
  const order = Array.from({ length: Math.min(maxSpans, spans.length / 3) }, (_, at) => 3 * at);
  order.sort((a, b) => spans[a] - spans[b] || spans[b + 1] - spans[a + 1]);
  const titleAt = -title.length - 1;
  const titleEnd = titleAt + lengthWithoutSite(title);
  let judged = { from: Number.NaN, to: 0, isSkipped: false };
  const mentions: Mention[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const at of order) {
    const [from, to, type] = spans.slice(at, at + 3);
    if (from < last || nameTypes[type] === undefined || (from < 0 && to > titleEnd)) continue;
    const [text, shift] = from < 0 ? [title, titleAt] : [body, 0];
    const trimmed = trimmedName(text, from - shift, to - shift);
    if (trimmed === null) continue;
    last = to;
    const [start, end] = trimmed;
    const [lineFrom, lineTo] = lineAround(text, start);
    if (judged.from !== lineFrom + shift || judged.to !== lineTo + shift)
      judged = { from: lineFrom + shift, to: lineTo + shift, isSkipped: isNoProse(text.slice(lineFrom, lineTo)) };
    const form = withoutJoiners(text.slice(start, end)).replace(/\s+/gu, ' ');
    const isOfAddress = isInAddress(text.slice(Math.max(0, start - maxNameLength), start));
    if (judged.isSkipped || isOfAddress || !isName(form)) continue;
    mentions.push({ type, start: start + shift, end: end + shift, form });
  }
  return mentions;
}

/** Signs between a title and the name of its site. */
const separators = ['|', '·', '»', '–', '—', '-'].map((sign) => ` ${sign} `);

/** Length without the site's name (`Rivers of Ghana - Wikipedia`), if that has at most as many words as the rest. */
function lengthWithoutSite(title: string): number {
  const at = Math.max(...separators.map((separator) => title.lastIndexOf(separator)));
  const wordsOf = (part: string) => part.split(/\s+/).length;
  return at > 0 && wordsOf(title.slice(at + 3)) <= wordsOf(title.slice(0, at)) ? at : title.length;
}

/** From 200 to 300 characters on each side. Equal for names near each other. */
function lineAround(text: string, at: number): [from: number, to: number] {
  const cell = at - (at % 100);
  const from = Math.max(0, cell - 200);
  const to = cell + 300;
  const before = text.slice(from, at).lastIndexOf('\n') + 1;
  const after = text.slice(at, to).indexOf('\n');
  return [from + before, after === -1 ? Math.min(to, text.length) : at + after];
}

/** Without surrounding punctuation and a final possessive; null if nothing remains. */
function trimmedName(text: string, from: number, to: number): [start: number, end: number] | null {
  let name = text.slice(from, to);
  const start = from + (leading.exec(name)?.[0].length ?? 0);
  name = text.slice(start, to);
  for (let length = -1; length !== name.length; ) {
    length = name.length;
    name = name.replace(trailing, '').replace(possessive, '');
    if (/[’'!?]$/u.test(name) && !/^\p{Lu}\S*!$/u.test(name)) name = name.slice(0, -1);
    if (name.endsWith('.') && !abbreviation.test(name)) name = name.slice(0, -1);
    if (/[)\]]/u.test(name) && !/[([]/u.test(name)) name = name.replace(/(?<!\s)\s*[)\]].*$/su, '');
  }
  if (/[([]/u.test(name) && !/[)\]]/u.test(name)) name = name.replace(/(?<!\s)\s*[([][^([]*$/u, '');
  return name === '' ? null : [start, start + name.length];
}

/** `before`: what precedes a name. */
function isInAddress(before: string): boolean {
  const at = Math.max(before.lastIndexOf('//'), before.toLowerCase().lastIndexOf('www.'));
  return at >= 0 && ofAddress.test(before.slice(at));
}

function isName(form: string): boolean {
  if (form.length > maxNameLength || !letter.test(form)) return false;
  if (address.test(form) || code.test(form) || amount.test(form)) return false;
  const words = form.match(word) ?? [];
  if (words.length > maxNameWords) return false;
  // In scripts with capitals, a name has a capital or a number.
  if (hasCase.test(form) && !capital.test(form) && !/\p{N}/u.test(form)) return false;
  return words.join('').length > 1;
}

/** Gives exact variants of a name on one page the same type. */
function shareTypes(names: Map<string, { types: number[]; mentions: Mention[] }>): void {
  const shared = new Map<string, number[]>();
  for (const name of names.values()) {
    const variant = variantOf('', name.mentions[0].form);
    const types = variant === null ? undefined : shared.get(variant);
    if (types !== undefined) {
      for (const [type, count] of name.types.entries()) types[type] += count;
      name.types = types;
    } else if (variant !== null) shared.set(variant, name.types);
  }
}

/** A surname counts for the page's full name that ends with it, unless several people have this surname. */
function joinSurnames(names: Map<string, { types: number[]; mentions: Mention[] }>): void {
  const person = nameTypes.indexOf('person');
  const bySurname = new Map<string, string | null>();
  for (const [key, { types }] of names) {
    const parts = key.split(' ');
    if (parts.length < 2 || parts.length > 5 || typeOf(types) !== 'person') continue;
    const surname = parts[parts.length - 1];
    const known = bySurname.get(surname);
    const isSame = known === undefined || (known !== null && variantOf('person', known) === variantOf('person', key));
    bySurname.set(surname, isSame ? (known ?? key) : null);
  }
  for (const [surname, full] of bySurname) {
    const part = names.get(surname);
    const whole = full === null ? undefined : names.get(full);
    if (part === undefined || whole === undefined || typeOf(part.types) !== 'person') continue;
    whole.mentions.push(...part.mentions);
    whole.mentions.sort((a, b) => a.start - b.start);
    whole.types[person] += part.types[person];
    names.delete(surname);
  }
}

/** Titles, offices and peoples that stand before the name of a person are none of the name. */
import { honorifics, keptHonorifics, personNouns, titleModifiers } from './name-cues.ts';
import { bare, type NameContext, type NameSpan } from './name-words.ts';

/** The parts of a run that are names: titles in front go, a people before a person is apart. */
export function trimTitles(context: NameContext, first: number, last: number): NameSpan[] {
  const { tokens, kinds } = context;
  let from = first;
  let titled = false;
  const isTitle = (i: number) => {
    const lower = bare(tokens[i].lower);
    return honorifics.has(lower) || ((kinds.isActor(lower) || personNouns.has(lower)) && isPersonal(context, i + 1));
  };
  while (from < last) {
    const lower = bare(tokens[from].lower);
    const next = bare(tokens[from + 1].lower);
    if (titleModifiers.has(lower) && honorifics.has(next)) from++;
    else if (isTitle(from) && !keptHonorifics.has(lower) && tokens[from + 1].lower !== 'of') {
      titled = true;
      from++;
    } else if (tokens[from].text === '.') from++;
    else break;
  }
  const inner = innerTitle(context, from, last);
  if (inner > from && !titled) {
    let end = inner - 1;
    while (end > from && (titleModifiers.has(tokens[end].lower) || honorifics.has(bare(tokens[end].lower)))) end--;
    const office = end === from && honorifics.has(bare(tokens[end].lower)) ? [] : trimTitles(context, from, end);
    return [...office, { first: inner + 1, last, titled: true }];
  }
  if (from === last && honorifics.has(bare(tokens[last].lower)) && !titled) return [];
  const { group } = kinds.kindsOf(tokens[from].lower);
  if (group > 0.5 && from < last && (isPersonal(context, from + 1) || isTitle(from + 1))) {
    return [{ first: from, last: from, titled: false }, ...trimTitles(context, from + 1, last)];
  }
  return [{ first: from, last, titled }];
}

/** `CIA Director George Tenet`: the last word of a title inside the run with a person's name after it, or -1. */
function innerTitle(context: NameContext, from: number, last: number): number {
  const { tokens, kinds } = context;
  for (let i = last - 1; i > from; i--) {
    const lower = bare(tokens[i].lower);
    const isTitle =
      honorifics.has(lower) ||
      personNouns.has(lower) ||
      kinds.isActor(lower) ||
      (lower === 'state' && tokens[i - 1].lower === 'of');
    if (isTitle && !keptHonorifics.has(lower) && last - i <= 4 && isPersonal(context, i + 1)) return i;
  }
  return -1;
}

/** Whether a given name stands there. */
function isPersonal({ tokens, kinds }: NameContext, i: number): boolean {
  const token = tokens[i];
  return token?.isCapitalized && kinds.kindsOf(token.lower).given > 0.6;
}

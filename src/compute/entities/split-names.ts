/** Signs that are in no name, and a colon that is in titles of works only, end a name where they were taken into one. */
import { namesIn } from './find-names.ts';
import { trimmed } from './name-tagger.ts';
import type { NameContext, NameSpan } from './name-words.ts';
import { looseSigns, type TextToken } from './read-tokens.ts';
import { addScores, bestType, scoreForm, scoreMention } from './type-names.ts';

const hasSign = ({ text }: TextToken) => [...text].some((character) => looseSigns.includes(character));

export function splitNames(context: NameContext, names: readonly NameSpan[]): NameSpan[] {
  return names.flatMap((name) => {
    const tokens = context.tokens.slice(name.first, name.last + 1);
    const isSigned = tokens.some(hasSign);
    const hasColon = tokens.some(isColon) && isLabelled(context, name) && !isWork(context, name);
    if (!isSigned && !hasColon) return [name];
    const parts: NameSpan[] = [];
    let from = name.first;
    for (let at = name.first; at <= name.last + 1; at++) {
      const token = context.tokens[at];
      if (at <= name.last && !hasSign(token) && !(hasColon && isColon(token))) continue;
      const part = trimmed(context, from, at - 1);
      if (part !== null) {
        const titled = name.titled && from === name.first;
        const found = namesIn(context, part.first, part.last);
        parts.push(...found.map((span) => ({ ...span, titled: span.titled || (titled && span === found[0]) })));
      }
      from = at + 1;
    }
    return parts;
  });
}

function isColon(token: TextToken | undefined): boolean {
  return token?.text === ':';
}

/** Whether a colon may stand behind a label or speaker: in a name that begins a line, or behind an abbreviation. */
function isLabelled({ tokens }: NameContext, { first }: NameSpan): boolean {
  const { text, line } = tokens[first];
  return tokens[first - 1]?.line !== line || (isColon(tokens[first + 1]) && text === text.toUpperCase());
}

function isWork(context: NameContext, name: NameSpan): boolean {
  const scores = scoreForm(context, name);
  addScores(scores, scoreMention(context, name));
  return bestType(scores) === 'work';
}

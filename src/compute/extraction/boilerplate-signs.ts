/** Words in `class` and `id` that themes share, not specific to any site. */
import boilerplate from '../../../models/boilerplate.json' with { type: 'json' };

/**
 * `kinds` of boilerplate: the parts of a word such as `read-more` must be adjacent and in order. `layout`: words that
 * neither have nor change meaning. `weighed`: too weak to remove an element by, but weighed by Readability.
 */
const { kinds, layout, weighed, turning: turningParts } = boilerplate.names;
/** A first part this short is a prefix of a site or theme, except these, which negate. */
const longestPrefix = 4;
const turning = new Set(turningParts);

const byFirstPart = new Map<string, { sign: string; parts: string[] }[]>();
const weighedParts = new Set([...layout, ...weighed]);
const knownParts = new Set(weighedParts);
for (const [sign, words] of Object.entries(kinds)) {
  for (const word of words) {
    const parts = word.split('-');
    const same = byFirstPart.get(parts[0]) ?? [];
    same.push({ sign, parts });
    byFirstPart.set(parts[0], same);
    for (const part of parts) knownParts.add(part);
  }
}

/** Longer names are generated. */
const longestName = 400;

const commentsName =
  /(?:^|\s)(?:(?:comments|comentarios|commentaires|kommentare|kommentarer|commenti|reacties|komentarze|yorumlar|комментарии)(?:[-_](?:area|list|section))?|comment[-_]?list|disqus_thread)(?:\s|$)/i;

/** Whether the whole name means a list of comments; `has-comments` does not. */
export const isComments = (names: string): boolean => commentsName.test(names.slice(0, longestName));

const partOfComments = /(?:^|[\s_-])(?:comments?|disqus)(?:$|[\s_-])/i;

/** The same for a name of which a part says so: `post-comments`. */
export const isOfComments = (names: string): boolean =>
  isComments(names) || partOfComments.test(names.slice(0, longestName));

/** Empty if any part is unknown: `CtxtMenu` is no menu, `overflow-hidden` hides nothing. */
function partsOf(name: string, known: ReadonlySet<string>): string[] {
  const parts = name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== '');
  const isKnown = (part: string, at: number): boolean =>
    known.has(part) || part.length <= (at === 0 ? longestPrefix : 1);
  return (parts.length === 1 || !turning.has(parts[0])) && parts.every(isKnown) ? parts : [];
}

/** The kind of boilerplate by class and id, or null. Names count as a whole. Linear; reads 400 characters. */
export function boilerplateName(names: string): string | null {
  for (const name of names.slice(0, longestName).split(/\s+/)) {
    const parts = partsOf(name, knownParts);
    for (const [at, part] of parts.entries()) {
      const found = byFirstPart
        .get(part)
        ?.find((sign) => sign.parts.every((each, offset) => parts[at + offset] === each));
      if (found !== undefined) return found.sign;
    }
  }
  return null;
}

/** `hidden` is only a part of `visually-hidden`; what `md:` or `print:` stands before depends on the screen. */
const isWeighed = (name: string): boolean =>
  !name.includes(':') && (partsOf(name, weighedParts).length > 0 || boilerplateName(name) !== null);

/** Gives names that Readability would misread a neutral one, the same name always the same. One per page. */
export function nameNeutralizer(): (names: string) => string {
  const replaced = new Map<string, string>();
  return (names) =>
    names
      .slice(0, longestName)
      .split(/\s+/)
      .map((name) => {
        if (name === '' || isWeighed(name)) return name;
        const known = replaced.get(name) ?? `n${replaced.size}`;
        replaced.set(name, known);
        return known;
      })
      .join(' ');
}

/** Why a page is suggested, in words. Pure; called by the retriever. */

/** Cosines of page vectors from which pages are called so; words for people, not a threshold of anything. */
const veryClose = 0.75;
const close = 0.5;

/** How near two pages are by the cosine of their vectors. */
export function nearnessReason(cosine: number): string {
  if (cosine >= veryClose) return 'very close in content';
  return cosine >= close ? 'close in content' : 'related in content';
}

/** Longest title that is repeated in a reason, characters. */
const maxTitle = 80;

/** The pages that a suggestion is near to, by what people call them; at least one name. */
export function nearResultsReason(names: readonly string[]): string {
  const quoted = names.map((name) => `“${name.length > maxTitle ? `${name.slice(0, maxTitle)}…` : name}”`);
  const last = quoted.at(-1) ?? '';
  return `near in content to ${quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} and ${last}`}`;
}

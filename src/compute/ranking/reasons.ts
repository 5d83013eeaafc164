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
const maxTitle = 40;

/** Why a page is suggested beside a result: what both mention, if anything, and what people call the result. */
export function nearResultReason(title: string, names: readonly string[]): string {
  const quoted = `“${title.length > maxTitle ? `${title.slice(0, maxTitle).toWellFormed().trimEnd()}…` : title}”`;
  return names.length === 0 ? `close to ${quoted}` : `mentions ${listed(names)}, as ${quoted} does`;
}

/** Names that a reason shows; more are counted. */
const shownNames = 3;

/** Why a page is similar to another: what both mention, the most telling first. */
export function sharedReason(names: readonly string[]): string {
  return `both mention ${listed(names)}`;
}

/** Why a page is suggested beside results: what it and they mention. */
export function sharedResultsReason(names: readonly string[]): string {
  return `mentions ${listed(names)}, as the first results do`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, shownNames);
  const rest = names.length - shown.length;
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown;
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

/** The topic that a page shares, by its label; null for a topic without one. */
export function topicReason(label: string | null): string {
  return label === null ? 'on the same topic' : `on the same topic: “${label}”`;
}

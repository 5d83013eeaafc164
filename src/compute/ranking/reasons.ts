/** Min cosine of pages called very close. Affects only the wording. */
const veryClose = 0.75;
const close = 0.5;

export function nearnessReason(cosine: number): string {
  if (cosine >= veryClose) return 'very close in content';
  return cosine >= close ? 'close in content' : 'related in content';
}

const maxTitle = 40;

export function nearResultReason(title: string, names: readonly string[]): string {
  const quoted = `“${title.length > maxTitle ? `${title.slice(0, maxTitle).toWellFormed().trimEnd()}…` : title}”`;
  return names.length === 0 ? `close to ${quoted}` : `mentions ${listed(names)}, as ${quoted} does`;
}

const shownNames = 3;

export function sharedReason(names: readonly string[]): string {
  return `both mention ${listed(names)}`;
}

export function sharedResultsReason(names: readonly string[]): string {
  return `mentions ${listed(names)}, as the first results do`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, shownNames);
  const rest = names.length - shown.length;
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown;
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

export function topicReason(label: string | null): string {
  return label === null ? 'on the same topic' : `on the same topic: “${label}”`;
}

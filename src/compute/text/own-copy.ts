/** V8 keeps a substring of 13 or more characters as a view that keeps its source alive; long-lived ones must be copied. */
const shortestView = 13;

export function ownCopy(text: string): string {
  return text.length < shortestView ? text : ` ${text}`.slice(1);
}

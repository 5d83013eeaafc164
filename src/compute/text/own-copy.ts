/**
 * V8 keeps a substring of 13 characters or more as a view of the string that it was cut from, which lives as long as the
 * substring does. What is kept for long is copied.
 */
const shortestView = 13;

/** The same string, cut from nothing larger than itself. */
export function ownCopy(text: string): string {
  return text.length < shortestView ? text : ` ${text}`.slice(1);
}

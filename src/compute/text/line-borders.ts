/**
 * Finds the line ends at which a sentence ends although no full stop says so: blank lines, list items, and short lines
 * (headings, verse, tables, code). The ends of long lines are taken for wrapped prose. Called by the analyzer.
 */

/** A line of at least this many UTF-16 units may be prose wrapped by its author: mail and plain text wrap at 60 to 80. */
const shortestWrappedLine = 50;
const listItem = /[\t ]*(?:[-*•‣▪·–—+]|\(?[0-9]{1,3}[.)])[\t ]/y;
const blankRest = /[\t\f\v\r ]*(?:\n|$)/y;

/** Offsets of the line ends that end a sentence, ascending. Lines end with a line feed. */
export function findLineBorders(text: string): number[] {
  const borders: number[] = [];
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (
      at - lineStart < shortestWrappedLine ||
      startsHere(listItem, text, at + 1) ||
      startsHere(blankRest, text, at + 1)
    ) {
      borders.push(at);
    }
    lineStart = at + 1;
  }
  return borders;
}

function startsHere(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

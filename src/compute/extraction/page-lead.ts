/**
 * The lead of an article: sentences between its title and its text. Many pages keep them apart from it, so that Readability leaves them
 * out. Looked for while the page is whole, put before the article that was found. Called by extraction.
 */
import { isCall, isCredit, isFact, isLabel } from './boilerplate-lines.ts';
import { type DomNode, elementNode, walkTree } from './dom-tree.ts';
import type { DeclaredFacts } from './page-metadata.ts';
import { headings, type ReadableText } from './readable-text.ts';
import { type Block, blocksOf, folded } from './trim-article.ts';

/** Blocks behind the title that are looked at. */
const maxBlocks = 20;
/** A sentence of a lead has so many characters, and no larger share of them in links. */
const shortestSentence = 64;
const largestLinkShare = 0.3;
/** Letters by which a text is known again, and how much of an article is searched for them, in characters. */
const knownBy = 60;
const longestSearch = 20_000;

/** The first blocks behind the title: behind the first heading that says it, or else the first `h1`; none without such a heading. */
export function blocksBehindTitle(root: DomNode, title: string | null): Block[] {
  const wanted = title === null ? '' : folded(title);
  let first: DomNode | null = null;
  let same: DomNode | null = null;
  walkTree(
    root,
    (node) => {
      if (node.nodeType !== elementNode || same !== null) return false;
      if (!headings.has(node.localName)) return true;
      if (node.localName === 'h1') first ??= node;
      if (wanted !== '' && folded(node.textContent ?? '') === wanted) same = node;
      return false;
    },
    () => {},
  );
  const heading = same ?? first;
  return heading === null ? [] : blocksOf(root, heading, maxBlocks);
}

/**
 * The article with its lead before it: of `blocks` the sentences before the article's first one that are still on the page, and those
 * that the page repeats in its description. `left`: the elements that clearing has left.
 */
export function withLead(
  article: ReadableText,
  blocks: readonly Block[],
  facts: DeclaredFacts,
  left: ReadonlySet<DomNode>,
): ReadableText {
  const words = folded(article.text, longestSearch);
  const isInArticle = ({ text }: Block): boolean => words.includes(folded(text, knownBy));
  const begin = blocks.findIndex((block) => block.isRunning && isInArticle(block));
  const description = folded(facts.description ?? '');
  const isDescribed = ({ text }: Block): boolean => {
    const line = folded(text, knownBy);
    return line.length >= knownBy / 3 && description.startsWith(line);
  };
  const lead = blocks
    .slice(0, begin < 0 ? undefined : begin)
    .filter((block) => !block.isHeading && !isInArticle(block))
    .filter((block) => isDescribed(block) || (begin >= 0 && isSentence(block) && left.has(block.node)));
  if (lead.length === 0) return article;
  const before = `${lead.map(({ text }) => text).join('\n\n')}\n\n`;
  return {
    text: before + article.text,
    sections: article.sections.map((section) => ({ ...section, char_start: section.char_start + before.length })),
  };
}

function isSentence({ text, links }: Block): boolean {
  return (
    text.length >= shortestSentence &&
    links < largestLinkShare &&
    /[.!?。！？…]["'”’»)\]]?$/.test(text) &&
    !(isLabel(text) || isCall(text) || isFact(text) || isCredit(text))
  );
}

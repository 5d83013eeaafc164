/** The lead of an article: sentences between title and text. Collected before Readability, which often drops it. */
import { isCall, isCredit, isFact, isLabel } from './boilerplate-lines.ts';
import { type DomNode, elementNode, walkTree } from './dom-tree.ts';
import type { DeclaredFacts } from './page-metadata.ts';
import { headings, type ReadableText, readingLength } from './readable-text.ts';
import { type Block, blocksOf, folded } from './trim-article.ts';

const maxBlocks = 20;
/** Min characters of a sentence in a lead, and max share of links. */
const shortestSentence = 64;
const largestLinkShare = 0.3;
/** Number of letters that identify a text, and characters of the article that are searched for them. */
const knownBy = 60;
const longestSearch = 20_000;

/** Blocks after the first heading with the title, or else after the first `h1`; none without a heading. */
export function blocksBehindTitle(root: DomNode, title: string | null): Block[] {
  const wanted = title === null ? '' : folded(title);
  let first: DomNode | null = null;
  let same: DomNode | null = null;
  walkTree(root, (node) => {
    if (node.nodeType !== elementNode || same !== null) return false;
    if (!headings.has(node.localName)) return true;
    if (node.localName === 'h1') first ??= node;
    if (wanted !== '' && folded(node.textContent ?? '') === wanted) same = node;
    return false;
  });
  const heading = same ?? first;
  return heading === null ? [] : blocksOf(root, heading, maxBlocks);
}

/** The article, preceded by those `blocks` that are `left` on the page or begin the description. */
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
    readingLength(text) >= shortestSentence &&
    links < largestLinkShare &&
    /[.!?。！？…]["'”’»)\]]?$/.test(text) &&
    !(isLabel(text) || isCall(text) || isFact(text) || isCredit(text))
  );
}

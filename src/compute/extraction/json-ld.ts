/** Article facts in JSON-LD (schema.org). Tolerates comments around it, line breaks in strings and trailing commas. */
import { parsedJson } from '../structures/json-fields.ts';

export interface LinkedArticle {
  /** Whether the type is a single text: not a thread, product or generic page. */
  isArticle: boolean;
  headline: string | null;
  authors: string[];
  persons: string[];
  published: string | null;
  language: string | null;
  publisher: string | null;
  image: string | null;
  body: string | null;
}

type Node = Record<string, unknown>;

/** Max characters per script, and max nodes in total. */
const longestScript = 1_000_000;
const maxNodes = 2000;
const maxDepth = 8;
const articleType =
  /(?:Article|Posting|Report|WebPage|Recipe|Review|HowTo|FAQPage|Chapter|Book|Thesis|Movie|VideoObject|PodcastEpisode|Event|Product)$/i;
const oneText = /(?:Article|BlogPosting|Report|Review|Recipe)$/i;
const truly = /(?:Article|Posting|Report|Review|Recipe|HowTo)$/i;

/** Facts of one article, the first of the most specific type; null if none. */
export function readJsonLd(scripts: readonly string[]): LinkedArticle | null {
  const nodes = scripts.flatMap((script) => flatten(parseTolerantly(script.slice(0, longestScript))));
  const article =
    nodes.find((node) => typesOf(node).some((type) => truly.test(type))) ??
    nodes.find((node) => typesOf(node).some((type) => articleType.test(type)));
  if (article === undefined) return null;
  const byId = new Map(nodes.filter(({ name }) => name !== undefined).map((node) => [node['@id'], node]));
  const listed = (value: unknown): unknown[] =>
    (Array.isArray(value) ? value.slice(0, 20) : [value]).map((each) =>
      isNode(each) && each.name === undefined && each['@id'] !== undefined ? (byId.get(each['@id']) ?? each) : each,
    );
  const named = (value: unknown): string[] =>
    listed(value).flatMap((each) => textOf(isNode(each) ? each.name : each) ?? []);
  const authors = article.author ?? article.creator;
  return {
    isArticle: typesOf(article).some((type) => oneText.test(type)),
    headline: textOf(article.headline) ?? textOf(article.name),
    authors: named(authors),
    persons: named(listed(authors).filter((each) => isNode(each) && typesOf(each).includes('Person'))),
    published: textOf(article.datePublished) ?? textOf(article.dateCreated) ?? textOf(article.uploadDate),
    language:
      textOf(article.inLanguage) ?? (isNode(article.inLanguage) ? textOf(article.inLanguage.alternateName) : null),
    publisher: named(article.publisher)[0] ?? null,
    image: imageOf(article.image) ?? imageOf(article.thumbnailUrl),
    body: textOf(article.articleBody) ?? textOf(article.text),
  };
}

/** An address, or that of an ImageObject; the first of a list. */
function imageOf(value: unknown): string | null {
  const image = Array.isArray(value) ? value[0] : value;
  return isNode(image) ? (textOf(image.url) ?? textOf(image.contentUrl) ?? textOf(image['@id'])) : textOf(image);
}

function flatten(parsed: unknown): Node[] {
  const nodes: Node[] = [];
  let level: unknown[] = [parsed];
  for (let depth = 0; level.length > 0 && depth < maxDepth && nodes.length < maxNodes; depth++) {
    const next: unknown[] = [];
    for (const each of level) {
      if (Array.isArray(each)) next.push(...each.slice(0, maxNodes));
      else if (isNode(each) && nodes.length < maxNodes) {
        nodes.push(each);
        for (const key of [
          '@graph',
          'mainEntity',
          'mainEntityOfPage',
          'author',
          'publisher',
          'itemListElement',
          'item',
          'review',
        ]) {
          if (typeof each[key] === 'object' && each[key] !== null) next.push(each[key]);
        }
      }
    }
    level = next;
  }
  return nodes;
}

function parseTolerantly(script: string): unknown {
  const bare = script
    .trim()
    .replace(/^(?:<!--|\/\/<!\[CDATA\[|\/\*\s*<!\[CDATA\[\s*\*\/|<!\[CDATA\[)/, '')
    .replace(/(?:-->|\/\/\]\]>|\/\*\s*\]\]>\s*\*\/|\]\]>)$/, '')
    .replace(/;\s*$/, '');
  return parsedJson(bare) ?? parsedJson(mended(bare));
}

/** Escapes control characters in strings, drops trailing commas. One pass. */
function mended(json: string): string {
  const out: string[] = [];
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const character = json[i];
    if (inString && character === '\\') {
      out.push(character, json[++i] ?? '');
    } else if (character === '"') {
      inString = !inString;
      out.push(character);
    } else if (json.charCodeAt(i) < 0x20) {
      out.push(' ');
    } else if (!inString && (character === '}' || character === ']')) {
      let last = out.length - 1;
      while (last >= 0 && out[last].trim() === '') last--;
      if (out[last] === ',') out[last] = '';
      out.push(character);
    } else out.push(character);
  }
  return out.join('');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typesOf(node: Node): string[] {
  const type = node['@type'];
  return (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
}

/** The first text of a list. Iterative, as lists may nest deeply. U+0000 is ignored, as in the page. */
function textOf(value: unknown): string | null {
  let first = value;
  while (Array.isArray(first)) first = first[0];
  const text = typeof first === 'string' ? first.replaceAll('\0', '') : '';
  return text.trim() === '' ? null : text;
}

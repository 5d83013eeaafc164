/** Own files as pages: Markdown, text, HTML, DOCX, EPUB by chapter, and PDF, whose text is read later by a thread. */
import { basename, posix } from 'node:path';
import { decodeHTML, escapeText } from 'entities';
import { decodeText } from '../compute/text/decode-text.ts';
import { unescaped } from '../compute/web/unescaped.ts';
import { fileHost, type ImportItem } from '../domain/import.ts';
import { ImportError, itemOf, textOf } from './item-parts.ts';
import { type ArchiveEntry, archiveEntries, bufferArchive, wholeOf } from './read-archive.ts';
import { scanTags } from './read-bookmarks.ts';
import { dialects, type Fields, itemReader } from './read-entries.ts';

export interface OwnFile {
  /** Path of the imported folder and of the file in it. */
  path: string;
  /** Time of its last change. */
  at: number | null;
  bytes(): AsyncIterable<Buffer>;
}

type Owned = { own: OwnFile };

const escaped = (name: string) => encodeURIComponent(name.toWellFormed());
/** `part` stays within the file. */
const addressOf = ({ path }: OwnFile, part: string | undefined): string =>
  `http://${fileHost}/${posix
    .join(path, part === undefined ? '' : posix.join('/', part))
    .split('/')
    .map(escaped)
    .join('/')}`;

const ownItem = (file: OwnFile, given: Parameters<typeof itemOf>[0] & { part?: string }): ImportItem => {
  const { part, ...parts } = given;
  const address = textOf(parts.url);
  const title = textOf(parts.title) ?? basename(file.path);
  return {
    ...itemOf({ at: file.at, ...parts, title, url: address ?? addressOf(file, part) }),
    is_own: address === null,
  };
};

export async function* readPdfFile({ own: file }: Owned): AsyncGenerator<ImportItem> {
  const pdf = await wholeOf(file.bytes(), file.path);
  yield { ...ownItem(file, { url: null }), title: null, pdf };
}

export async function* readHtmlFile({ own: file }: Owned): AsyncGenerator<ImportItem> {
  const { text } = decodeText(await wholeOf(file.bytes(), file.path), null, true);
  yield { ...ownItem(file, { url: null, body_html: text }), title: null, whole_page: true };
}

const frontMatter = /^---\n([\s\S]{0,200000}?)\n(?:---|\.\.\.)(?:\n|$)/;
const frontMatterItem = itemReader({
  ...dialects.usual,
  url: 'url|originalurl|canonicalurl|link|source|href',
  html: '',
  text: '',
});

/** For a clipped page, front matter contains its address and facts. */
export async function* readTextFile({ own: file }: Owned): AsyncGenerator<ImportItem> {
  const text = decodeText(await wholeOf(file.bytes(), file.path), null, false).text.replace(/\r\n?/g, '\n');
  const matter = frontMatter.exec(text);
  const said = frontMatterItem(matterFields(matter?.[1] ?? ''));
  const body = text.slice(matter?.[0].length ?? 0).trim();
  const isAddress = /^https?:\/\//i.test(said.url);
  const item = ownItem(file, {
    url: isAddress ? said.url : null,
    title: said.title ?? /^# +(.+)$/m.exec(body)?.[1],
    at: said.at ?? file.at,
    body_text: body,
  });
  yield { ...item, metadata: said.metadata };
}

/** The part of YAML that front matter uses: texts, JSON, and lists. */
function matterFields(matter: string): Fields {
  const fields: Fields = Object.create(null);
  let list: unknown[] = [];
  for (const line of matter.split('\n')) {
    const [, element] = /^\s*-\s+(.*)$/.exec(line) ?? [];
    const [, key = '', value = ''] = /^([\w -]+):(?:\s+(.*))?$/.exec(line) ?? [];
    if (element !== undefined) list.push(scalarOf(element));
    if (element !== undefined || key === '') continue;
    list = [];
    const scalar = value.trim() === '' ? list : scalarOf(value);
    fields[key] = typeof scalar === 'number' && /^title$/i.test(key.trim()) ? value.trim() : scalar;
  }
  return fields;
}

function scalarOf(given: string): unknown {
  const text = given.trim();
  try {
    return JSON.parse(text);
  } catch {
    return text.replace(/^'(.*)'$/, '$1');
  }
}

/** DOCX or EPUB, which are ZIP archives. */
export async function* readPackedFile({ own: file }: Owned): AsyncGenerator<ImportItem> {
  const entries = await archiveEntries(bufferArchive(await wholeOf(file.bytes(), file.path)), file.path);
  const partOf = (name: string) => entries.find((entry) => entry.name === name);
  const textIn = async (entry: ArchiveEntry | undefined) =>
    entry === undefined ? '' : decodeText(await wholeOf(entry.bytes(), file.path), null, true).text;
  const document = partOf('word/document.xml');
  if (document !== undefined) {
    const core = await textIn(partOf('docProps/core.xml'));
    yield ownItem(file, {
      url: null,
      title: elementText(core, 'title'),
      author: elementText(core, 'creator'),
      body_html: await wordHtml(await textIn(document)),
    });
    return;
  }
  const root = /\bfull-path="([^"]+)"/.exec(await textIn(partOf('META-INF/container.xml')))?.[1];
  if (root === undefined) throw new ImportError(`${file.path} is no EPUB: it has no list of chapters`);
  const book = await textIn(partOf(root));
  const facts = {
    folder: elementText(book, 'title'),
    author: elementText(book, 'creator'),
    lang: elementText(book, 'language'),
  };
  const hrefs = new Map<string | undefined, string>();
  const read = new Set<string>();
  let chapters = 0;
  for await (const part of scanTags([book], /<(\/?)(?:opf:)?(item|itemref)(?=[\s/>])/gi)) {
    if (typeof part === 'string' || part.isEnd) continue;
    if (part.name === 'item') hrefs.set(part.attributes.id, part.attributes.href ?? '');
    else {
      const href = unescaped(hrefs.get(part.attributes.idref) ?? '');
      if (read.has(href)) continue;
      read.add(href);
      const html = await textIn(partOf(posix.join(posix.dirname(root), href)));
      const words = html.slice(Math.max(0, html.search(/<body[\s>]/i))).replace(/<[^<>]*>/g, '');
      if (words.trim() === '') continue; // a cover page
      const heading = /<h[1-3]\b[^<>]*>([\s\S]{0,1000}?)<\/h[1-3]>|<title>([\s\S]{0,1000}?)<\/title>/i.exec(html);
      const title = [facts.folder, decodeHTML((heading?.[1] ?? heading?.[2] ?? '').replace(/<[^<>]*>/g, ' '))];
      chapters++;
      yield ownItem(file, {
        url: null,
        ...facts,
        part: href,
        title: title.filter(textOf).join(' — '),
        body_html: html,
      });
    }
  }
  if (chapters === 0) throw new ImportError(`${file.path} has no chapters with text`);
}

const dublinCore = {
  title: /<dc:title\b[^<>]*>([^<]*)<\/dc:title>/,
  creator: /<dc:creator\b[^<>]*>([^<]*)<\/dc:creator>/,
  language: /<dc:language\b[^<>]*>([^<]*)<\/dc:language>/,
};

const elementText = (xml: string, name: keyof typeof dublinCore): string | null =>
  textOf(decodeHTML(dublinCore[name].exec(xml)?.[1] ?? ''));

/** Paragraphs and headings of `word/document.xml`. */
async function wordHtml(xml: string): Promise<string> {
  const blocks: string[] = [];
  let text = '';
  let level = 0;
  let isText = false;
  for await (const part of scanTags([xml], /<(\/?)(w:p|w:t|w:tab|w:br|w:pstyle)(?=[\s/>])/gi)) {
    if (typeof part === 'string') text += isText ? escapeText(decodeHTML(part.replace(/<[^<>]*>/g, ''))) : '';
    else if (part.name === 'w:t') isText = !part.isEnd && !part.isEmpty;
    else if (part.name === 'w:tab') text += '\t';
    else if (part.name === 'w:br') text += '<br>';
    else if (part.name === 'w:pstyle')
      level = Number(/^(?:heading|title|berschrift|titre)\s*(\d)?/i.exec(part.attributes['w:val'] ?? '')?.[1] ?? 0);
    else {
      if (text.trim() !== '') blocks.push(level > 0 && level < 7 ? `<h${level}>${text}</h${level}>` : `<p>${text}</p>`);
      [text, level] = ['', 0];
    }
  }
  return blocks.join('\n');
}

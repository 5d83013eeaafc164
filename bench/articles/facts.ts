/**
 * What pages say of themselves, as four public collections have it: pages beside the title, author, date, language, site and lead image
 * that their people expect. Called by bench/articles.ts.
 *
 * Known: mozilla/readability (reviewed results), postlight/parser and flairNLP/fundus (expectations of readers made for each site, images
 * and dates among them; of postlight/parser, where they are written as text), adbar/htmldate (dates).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { decodeText } from '../../src/compute/text/decode-text.ts';

export const factNames = ['title', 'author', 'published_at', 'lang', 'site_name', 'image'] as const;
export type FactName = (typeof factNames)[number];
export type PageFacts = Partial<Record<FactName, string | null | undefined>>;

export interface FactPage {
  collection: string;
  name: string;
  url: string;
  read: () => string;
  /** Of an image, every address it may have. */
  expected: Partial<Record<FactName, string[]>>;
}

/** Python writes `NaN` for what it does not have. */
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8').replace(/: NaN\b/g, ': null'));
const decoded = (path: string) => () => {
  const bytes = readFileSync(path);
  return decodeText(path.endsWith('.gz') ? gunzipSync(bytes) : bytes, null, true).text;
};
const known = (values: Partial<Record<FactName, string | null | undefined>>): FactPage['expected'] =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value ? [[name, [value]]] : [])));

function readabilityPages(folder: string): FactPage[] {
  const at = join(folder, 'readability/test/test-pages');
  return readdirSync(at).map((name) => {
    const { title, byline, publishedTime, lang, siteName } = json(join(at, name, 'expected-metadata.json'));
    return {
      collection: 'readability',
      name,
      url: 'http://fakehost/test/page.html',
      read: decoded(join(at, name, 'source.html')),
      expected: known({ title, author: byline, published_at: publishedTime, lang, site_name: siteName }),
    };
  });
}

const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`/.source;
const written = (source: string): string => String(runInNewContext(source));

/** Its saved pages have what its own reader makes of meta elements: `name` and `value`, for `property` and `content`. */
const asServed = (html: string): string => html.replace(/(<meta\b[^>]*?\s)value=/gi, '$1content=');

/** Its tests are programs: their texts are read, of each group of tests with a page. */
function parserPages(folder: string): FactPage[] {
  const at = join(folder, 'parser');
  const custom = join(at, 'src/extractors/custom');
  const names = { title: 'title', author: 'author', date_published: 'published_at', lead_image_url: 'image' } as const;
  return readdirSync(custom).flatMap((site) => {
    const path = join(custom, site, 'index.test.js');
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .split(/\bdescribe\(/)
      .flatMap((group): FactPage[] => {
        const url = new RegExp(`\\burl\\s*=\\s*(${literal})`).exec(group)?.[1];
        const file = /\.\/fixtures\/([^'"`]+)/.exec(group)?.[1];
        if (url === undefined || file === undefined || !existsSync(join(at, 'fixtures', file))) return [];
        const expected = Object.entries(names).map(([theirs, ours]) => {
          const text = new RegExp(`assert\\.equal\\(\\s*${theirs},\\s*(${literal})\\s*\\)`).exec(group)?.[1];
          return [ours, text === undefined ? null : written(text)];
        });
        const read = () => asServed(decoded(join(at, 'fixtures', file))());
        return [
          { collection: 'parser', name: file, url: written(url), read, expected: known(Object.fromEntries(expected)) },
        ];
      });
  });
}

function fundusPages(folder: string): FactPage[] {
  const at = join(folder, 'fundus/tests/resources/parser/test_data');
  return readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: country }) => {
      const pages: Record<string, { url: string }> = json(join(at, country, 'meta.info'));
      const files = readdirSync(join(at, country));
      return files
        .filter((file) => file.endsWith('.json'))
        .flatMap((file) => {
          const versions = Object.values<Record<string, never>>(json(join(at, country, file)));
          const publisher = file.replace('.json', '');
          const saved = files.filter(
            (each) => each.replace(/_\d{4}_\d\d_\d\d\.html\.gz$/, '') === publisher && each !== file,
          );
          // Which version of a reader a page is for is told by its date; where they are not as many, it is not known.
          if (saved.length !== versions.length) return [];
          return saved.sort().map((page, index): FactPage => {
            const { title, authors, publishing_date, images } = versions[index];
            const covers = (images ?? []) as { is_cover: boolean; versions: { url: string }[] }[];
            const cover = covers.find((image) => image.is_cover);
            return {
              collection: 'fundus',
              name: page,
              url: pages[page]?.url ?? 'http://fakehost/test/page.html',
              read: decoded(join(at, country, page)),
              expected: {
                ...known({ title, author: ((authors ?? []) as string[]).join(', '), published_at: publishing_date }),
                ...(cover === undefined ? {} : { image: cover.versions.map((version) => version.url) }),
              },
            };
          });
        });
    });
}

function datePages(folder: string): FactPage[] {
  const at = join(folder, 'htmldate/tests');
  const pages: Record<string, { file: string; date: string | null }> = {
    ...json(join(at, 'eval_default.json')),
    ...json(join(at, 'eval_mediacloud_2020.json')),
  };
  return Object.entries(pages).flatMap(([url, { file, date }]) => {
    const path = [join(at, 'cache', file), join(at, 'eval', file), join(at, 'test_set', file)].find(existsSync);
    return path === undefined
      ? []
      : [{ collection: 'htmldate', name: file, url, read: decoded(path), expected: known({ published_at: date }) }];
  });
}

export function factPages(folder: string): FactPage[] {
  return [readabilityPages, parserPages, fundusPages, datePages].flatMap((pages) => pages(folder));
}

const words = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
const fillers = new Set(['by', 'and', 'von', 'und', 'par', 'et', 'por', 'y']);
const nameWords = (text: string): string =>
  [...new Set(words(text).filter((word) => !fillers.has(word)))].sort().join(' ');
const dayMs = 86_400_000;
const fileOf = (url: string): string => {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  return path.slice(path.lastIndexOf('/') + 1);
};

/** When a value is the one that was expected: the same words; a time less than a day apart; the same language; the same file. */
const same: Record<FactName, (found: string, expected: string) => boolean> = {
  title: (found, expected) => words(found).join(' ') === words(expected).join(' '),
  author: (found, expected) => nameWords(found) === nameWords(expected),
  published_at: (found, expected) => Math.abs(Date.parse(found) - Date.parse(expected)) < dayMs,
  lang: (found, expected) => words(found)[0] === words(expected)[0],
  site_name: (found, expected) => words(found).join(' ') === words(expected).join(' '),
  image: (found, expected) => found === expected || (fileOf(found) !== '' && fileOf(found) === fileOf(expected)),
};

export type Verdict = 'right' | 'wrong' | 'missing';

/** Of each fact that the page's people expect. */
export function judgeFacts({ expected }: FactPage, found: PageFacts): Partial<Record<FactName, Verdict>> {
  return Object.fromEntries(
    Object.entries(expected).map(([name, values]) => {
      const value = found[name as FactName];
      if (!value) return [name, 'missing'];
      return [name, values.some((each) => same[name as FactName](value, each)) ? 'right' : 'wrong'];
    }),
  );
}

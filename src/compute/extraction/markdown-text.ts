/** Reads Markdown and plain text: the text stays as is, headings become sections. */
import type { Section } from '../../domain/page.ts';
import { noFacts } from '../../domain/page-facts.ts';
import type { ExtractedPage } from './extract-html.ts';

const longestTitle = 500;
const fence = /^ {0,3}(```+|~~~+)/;
const atxHeading = /^ {0,3}#{1,6}[ \t]+(\S.*)$/;
const atxEnd = /(?<![ \t])[ \t]+(?:#+[ \t]*)?$/;
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/;
const frontMatter = /^---\n([\s\S]{0,20000}?)\n(?:---|\.\.\.)(?:\n|$)/;

export function readPlainText(given: string): ExtractedPage {
  return { title: null, text: tidy(given), sections: [], ...noFacts };
}

/** CommonMark headings; YAML front matter is removed and its title used. */
export function readMarkdown(given: string): ExtractedPage {
  const whole = tidy(given);
  const matter = frontMatter.exec(whole);
  const text = (matter === null ? whole : whole.slice(matter[0].length)).trim();
  const sections = headingsOf(text);
  const named = /^title:[ \t]*(\S.*)$/m
    .exec(matter?.[1] ?? '')?.[1]
    ?.trimEnd()
    .replace(/^(["'])(.+)\1$/, '$2');
  return { ...readPlainText(''), title: (named ?? sections[0]?.title)?.slice(0, longestTitle) ?? null, text, sections };
}

function tidy(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .trim();
}

function headingsOf(text: string): Section[] {
  const sections: Section[] = [];
  let open: string | null = null;
  let start = 0;
  let before = '';
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1] ?? null;
    if (mark !== null && (open === null || (mark[0] === open[0] && mark.length >= open.length))) {
      open = open === null ? mark : null;
    } else if (open === null) {
      const title = atxHeading.exec(line)?.[1]?.replace(atxEnd, '');
      if (title !== undefined) sections.push({ char_start: start, title: title.slice(0, longestTitle) });
      else if (underline.test(line) && /^ {0,3}[^\s>#*+|-]/.test(before)) {
        sections.push({ char_start: start - before.length - 1, title: before.trim().slice(0, longestTitle) });
      }
    }
    before = open === null && mark === null ? line : '';
    start += line.length + 1;
  }
  return sections;
}

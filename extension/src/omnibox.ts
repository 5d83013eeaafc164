/** What the address bar offers after the keyword, and how a passage is opened. */
import type { PageResult } from '../../src/domain/search.ts';
import type { ServiceClient } from './service/client.ts';

const mostSuggestions = 6;
/** Words at either end of a passage by which the browser finds it. */
const fragmentWords = 5;

const encodePart = (text: string): string => encodeURIComponent(text).replaceAll('-', '%2D');

/** The page's address with a text fragment that scrolls to the passage, which begins and ends with these words. */
export function linkToPassage({ canonical_url, chunks }: Pick<PageResult, 'canonical_url' | 'chunks'>): string {
  const words = chunks.at(0)?.snippet.text.trim().split(/\s+/) ?? [];
  if (words.length < 2 || canonical_url.includes('#')) return canonical_url;
  const start = words.slice(0, fragmentWords).join(' ');
  const end = words.slice(Math.max(fragmentWords, words.length - fragmentWords)).join(' ');
  return `${canonical_url}#:~:text=${encodePart(start)}${end === '' ? '' : `,${encodePart(end)}`}`;
}

/** Chromium reads descriptions as XML, Firefox as text. */
export const isChromium = (): boolean => chrome.runtime.getURL('').startsWith('chrome-extension:');
const escapeXml = (text: string): string => text.replace(/[<>&'"]/g, (c) => `&#${c.charCodeAt(0)};`);

export async function readingSuggestions(
  service: ServiceClient,
  text: string,
): Promise<chrome.omnibox.SuggestResult[]> {
  if (text.trim() === '') return [];
  const answer = await service.search(text, mostSuggestions, { typed: true });
  if (answer.problem !== null) return [];
  return answer.body.results.map((result) => {
    const description = `${result.title ?? result.canonical_url} — ${result.domain}`;
    return { content: linkToPassage(result), description: isChromium() ? escapeXml(description) : description };
  });
}

export async function openLink(url: string, disposition: `${chrome.omnibox.OnInputEnteredDisposition}`): Promise<void> {
  if (disposition === 'currentTab') await chrome.tabs.update({ url });
  else await chrome.tabs.create({ url, active: disposition === 'newForegroundTab' });
}

/** Address bar suggestions, and links to passages. */
import type { PageResult } from '../../src/domain/search.ts';
import type { ServiceClient } from './service/client.ts';

const maxSuggestions = 6;
/** The page's address, at the passage if there is one. */
export function linkToPassage({ canonical_url, chunks }: Pick<PageResult, 'canonical_url' | 'chunks'>): string {
  return chunks.at(0)?.link ?? canonical_url;
}

/** Chromium parses descriptions as XML, Firefox as text. */
export const isChromium = (): boolean => chrome.runtime.getURL('').startsWith('chrome-extension:');
const escapeXml = (text: string): string => text.replace(/[<>&'"]/g, (c) => `&#${c.charCodeAt(0)};`);

export async function readingSuggestions(
  service: ServiceClient,
  text: string,
): Promise<chrome.omnibox.SuggestResult[]> {
  if (text.trim() === '') return [];
  const answer = await service.search(text, maxSuggestions, { asked: { operators: true, prefix: true } });
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

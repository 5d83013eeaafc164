/** When a page counts as read: two settings, read without the schema, because this is loaded into every page. */
import type { ReadingRule } from './reading-timer.ts';

export const defaultActiveSeconds = 10;
export const defaultScrollShare = 0.5;

const numberOr = (value: unknown, byDefault: number): number => (typeof value === 'number' ? value : byDefault);

export async function readingRule(): Promise<ReadingRule> {
  const { settings } = await chrome.storage.local.get<{ settings?: Record<string, unknown> }>('settings');
  return {
    activeMs: numberOr(settings?.activeSeconds, defaultActiveSeconds) * 1000,
    scrollShare: numberOr(settings?.scrollShare, defaultScrollShare),
  };
}

/** `config` of a watch of kind `rss`: texts, read into what they mean. Keys that are not known have no effect. */
import { z } from 'zod';
import type { WatchConfig } from './watch.ts';
import { countText, readConfig, sourceText } from './watch-config.ts';

const rssConfig = z.object({
  max_items: countText,
  source: sourceText,
  feed_content: z.enum(['fallback', 'never']).default('fallback'),
});
export type RssConfig = z.infer<typeof rssConfig>;

export function readRssConfig(config: WatchConfig | null): RssConfig | { invalid: string } {
  return readConfig(rssConfig, config);
}

/** `config` of a watch of kind `rss`: texts, read into what they mean. Keys that are not known have no effect. */
import { z } from 'zod';
import type { WatchConfig } from './watch.ts';

const rssConfig = z.object({
  max_items: z
    .string()
    .regex(/^[1-9]\d{0,4}$|^100000$/, 'must be a whole number from 1 to 100000')
    .transform(Number)
    .optional(),
  source: z.string().min(1).max(200).default('watch'),
  feed_content: z.enum(['fallback', 'never']).default('fallback'),
});
export type RssConfig = z.infer<typeof rssConfig>;

export function readRssConfig(config: WatchConfig | null): RssConfig | { invalid: string } {
  const parsed = rssConfig.safeParse(config ?? {});
  if (parsed.success) return parsed.data;
  return { invalid: parsed.error.issues.map(({ path, message }) => `config.${path.join('.')}: ${message}`).join('; ') };
}

/** What the `config` of watches of all kinds has in common: texts, read into what they mean. Keys that are not known have no effect. */
import { z } from 'zod';
import type { WatchConfig } from './watch.ts';

/** How many items, or entries, at most. */
export const countText = z
  .string()
  .regex(/^[1-9]\d{0,4}$|^100000$/, 'must be a whole number from 1 to 100000')
  .transform(Number)
  .optional();

/** `source` of the pages that a watch brings in. */
export const sourceText = z.string().min(1).max(200).default('watch');

/** What a config says, or why it cannot be read. */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  config: WatchConfig | null,
): z.infer<Schema> | { invalid: string } {
  const parsed = schema.safeParse(config ?? {});
  if (parsed.success) return parsed.data;
  // A key holds one text: what is within it has no name of its own.
  return {
    invalid: parsed.error.issues.map(({ path, message }) => `config.${String(path[0])}: ${message}`).join('; '),
  };
}

/** Of a watch of kind `rss`. */
const rssConfig = z.object({
  max_items: countText,
  source: sourceText,
  feed_content: z.enum(['fallback', 'never']).default('fallback'),
});

export function readRssConfig(config: WatchConfig | null): z.infer<typeof rssConfig> | { invalid: string } {
  return readConfig(rssConfig, config);
}

/** What a watch of kind `video`, or a page, asks of captions. Texts, read into what they mean. */
import { z } from 'zod';
import type { PageMetadata } from './metadata.ts';
import type { WatchConfig } from './watch.ts';
import { countText, readConfig, sourceText } from './watch-config.ts';

const languageTag = /^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i;

/** `en, de-AT`: language tags, best first. */
const captionLangs = z
  .string()
  .transform((text) => text.split(',').map((tag) => tag.trim()))
  .pipe(z.array(z.string().regex(languageTag, 'must be language tags with commas, such as "en,de"')).min(1).max(50));

const videoConfig = z.object({
  max_entries: countText,
  entries_from: z.enum(['start', 'end']).default('start'),
  source: sourceText,
  caption_langs: captionLangs.optional(),
});
export type VideoConfig = z.infer<typeof videoConfig>;

export function readVideoConfig(config: WatchConfig | null): VideoConfig | { invalid: string } {
  return readConfig(videoConfig, config);
}

/** Keys of a page's metadata that say how a watch wants it read: `watch_kind`, and `caption_langs` as in the watch's config. */
export interface VideoWishes {
  /** A watch of kind `video` has brought it in. */
  isWatched: boolean;
  /** Null: as the settings say. */
  langs: string[] | null;
}

/** Errors: none; metadata that says something else says nothing. */
export function videoWishesOf(metadata: PageMetadata | null): VideoWishes {
  return {
    isWatched: metadata?.watch_kind === 'video',
    langs: captionLangs.safeParse(metadata?.caption_langs).data ?? null,
  };
}

/** The `config` of watches: texts, parsed. Unknown keys have no effect. */
import { z } from 'zod';
import type { PageMetadata } from './metadata.ts';
import type { WatchConfig, WatchKind } from './watch.ts';

const countText = z
  .string()
  .regex(/^[1-9]\d{0,4}$|^100000$/, 'must be a whole number from 1 to 100000')
  .transform(Number)
  .optional();

const sourceText = z.string().min(1).max(200).default('watch');

const publishedTranscript = z.object({ url: z.string().max(8192), type: z.string().max(100).default('') });
export type PublishedTranscript = z.infer<typeof publishedTranscript>;

const maxTranscripts = 10;
const episodeMetadata = z.object({
  transcripts: z.array(publishedTranscript).max(maxTranscripts).default([]),
  chapters_url: z.string().max(8192).nullable().default(null),
});
type EpisodeMetadata = z.infer<typeof episodeMetadata>;

/** Keys `transcripts` and `chapters_url`; invalid metadata is ignored. */
export function episodeOf(metadata: PageMetadata | null): EpisodeMetadata {
  return episodeMetadata.safeParse(metadata ?? {}).data ?? { transcripts: [], chapters_url: null };
}

const languageTag = /^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i;

/** `en, de-AT`: language tags, best first. */
const captionLangs = z
  .string()
  .transform((text) => text.split(',').map((tag) => tag.trim()))
  .pipe(z.array(z.string().regex(languageTag, 'must be language tags with commas, such as "en,de"')).min(1).max(50));

const configs = {
  rss: z.object({
    max_items: countText,
    source: sourceText,
    feed_content: z.enum(['fallback', 'never']).default('fallback'),
  }),
  podcast: z.object({
    max_items: countText,
    source: sourceText,
    transcripts: z.enum(['published_first', 'local']).default('published_first'),
    feed_content: z.enum(['fallback', 'never']).default('never'),
  }),
  video: z.object({
    max_entries: countText,
    entries_from: z.enum(['start', 'end']).default('start'),
    source: sourceText,
    caption_langs: captionLangs.optional(),
  }),
};

export function readConfig<Kind extends WatchKind>(
  kind: Kind,
  config: WatchConfig | null,
): z.infer<(typeof configs)[Kind]> | { invalid: string } {
  const parsed = configs[kind].safeParse(config ?? {});
  if (parsed.success) return parsed.data as z.infer<(typeof configs)[Kind]>;
  // The value of a key is a plain text, so a path has one part.
  return {
    invalid: parsed.error.issues.map(({ path, message }) => `config.${String(path[0])}: ${message}`).join('; '),
  };
}

/** Metadata keys with the wishes of a watch: `watch_kind`, and `caption_langs` as in its config. */
interface VideoWishes {
  isWatched: boolean;
  langs: string[] | null;
}

export function videoWishesOf(metadata: PageMetadata | null): VideoWishes {
  return {
    isWatched: metadata?.watch_kind === 'video',
    langs: captionLangs.safeParse(metadata?.caption_langs).data ?? null,
  };
}

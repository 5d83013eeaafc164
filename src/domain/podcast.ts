/** What a watch of kind `podcast` asks for, and what a page's metadata says of the episode that it is. Read from texts of outsiders. */
import { z } from 'zod';
import type { PageMetadata } from './metadata.ts';
import type { WatchConfig } from './watch.ts';
import { countText, readConfig, sourceText } from './watch-config.ts';

const podcastConfig = z.object({
  max_items: countText,
  source: sourceText,
  transcripts: z.enum(['published_first', 'local']).default('published_first'),
  feed_content: z.enum(['fallback', 'never']).default('never'),
});
export type PodcastConfig = z.infer<typeof podcastConfig>;

export function readPodcastConfig(config: WatchConfig | null): PodcastConfig | { invalid: string } {
  return readConfig(podcastConfig, config);
}

/** Where it is written down what is said in an episode. */
const publishedTranscript = z.object({ url: z.string().max(8192), type: z.string().max(100).default('') });
export type PublishedTranscript = z.infer<typeof publishedTranscript>;

const maxTranscripts = 10;
const episodeMetadata = z.object({
  transcripts: z.array(publishedTranscript).max(maxTranscripts).default([]),
  chapters_url: z.string().max(8192).nullable().default(null),
});
export type EpisodeMetadata = z.infer<typeof episodeMetadata>;

/** Keys `transcripts` and `chapters_url`. Errors: none; metadata that says something else says nothing. */
export function episodeOf(metadata: PageMetadata | null): EpisodeMetadata {
  return episodeMetadata.safeParse(metadata ?? {}).data ?? { transcripts: [], chapters_url: null };
}

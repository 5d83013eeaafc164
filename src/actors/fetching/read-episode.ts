/**
 * Reads what a podcast has published beside an episode's recording: a transcript, which goes before what could be recognized here, and
 * chapters. Where they are is said by the page's metadata (src/domain/podcast.ts).
 */
import { readChapters } from '../../compute/transcript/read-chapters.ts';
import { type TranscriptFormat, transcriptFormat } from '../../compute/transcript/read-transcript.ts';
import type { Chapter, TranscriptText } from '../../compute/transcript/transcript-text.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import type { Page } from '../../domain/page.ts';
import { episodeOf, type PublishedTranscript } from '../../domain/podcast.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { statusError, type WebFetch } from '../../providers/web-fetch.ts';
import type { StoreReader } from '../../store/store.ts';
import { contentTypeOf } from './content-readers.ts';
import type { Extractor } from './extract-page.ts';

export interface EpisodeReaderDependencies {
  fetch: WebFetch;
  readTranscript: Extractor['readTranscript'];
  blacklist: StoreReader['blacklist'];
  canonicalize: CanonicalizeSettings;
}

export interface ReadEpisode {
  /** Where the transcript was found. */
  finalUrl: string;
  text: TranscriptText;
}

export interface EpisodeReader {
  /**
   * The best transcript that can be read; null where none can. `isGivenUp`: whether what failed so is not tried another time.
   * Errors: FetchError, JobError; the signal's reason.
   */
  published(
    page: Page,
    options: { signal: AbortSignal; isGivenUp: (error: FetchError) => boolean },
  ): Promise<ReadEpisode | null>;
  /** None where there are none that can be had. Errors: FetchError `offline`; the signal's reason. */
  chapters(page: Page, signal: AbortSignal): Promise<Chapter[]>;
}

/** Those with times first. Others say only what was said, not when. */
const ranks: readonly (TranscriptFormat | null)[] = ['captions', 'json', 'html', 'text', null];
/** A thousand chapters are 100 KB; read where others wait, this takes 2 ms. */
const maxChaptersBytes = 200_000;

export function episodeReader(dependencies: EpisodeReaderDependencies): EpisodeReader {
  const { fetch, readTranscript, blacklist, canonicalize } = dependencies;

  const isBlacklisted = (url: string): boolean => {
    const known = canonicalizeUrl(url, canonicalize);
    return 'invalid' in known || blacklist.match({ ...known, original_url: url }) !== undefined;
  };

  const load = async (url: string, signal: AbortSignal, maxBytes?: number) => {
    const answer = await fetch(url, { signal, ...(maxBytes === undefined ? {} : { maxBytes }) });
    const refusal = statusError(answer);
    if (refusal !== null) throw refusal;
    if (isBlacklisted(answer.finalUrl)) throw new FetchError('blacklisted', 'redirected to a blacklisted page');
    return answer;
  };

  const readOne = async ({ url, type }: PublishedTranscript, chapters: Chapter[], signal: AbortSignal) => {
    const answer = await load(url, signal);
    const said = contentTypeOf(answer.headers['content-type']);
    // The feed knows better than the server what it has published.
    const called = transcriptFormat(type, url) ?? transcriptFormat(said.type, answer.finalUrl);
    const transcript = { bytes: answer.body, charset: said.charset, called, chapters };
    return { finalUrl: answer.finalUrl, text: await readTranscript(transcript, signal) };
  };

  const chapters = async ({ metadata }: Page, signal: AbortSignal): Promise<Chapter[]> => {
    const { chapters_url } = episodeOf(metadata);
    if (chapters_url === null || isBlacklisted(chapters_url)) return [];
    try {
      const { body } = await load(chapters_url, signal, maxChaptersBytes);
      return readChapters(Buffer.from(body).toString());
    } catch (error) {
      // Titles of sections are not worth another attempt at the episode.
      if (error instanceof FetchError && error.code !== 'offline') return [];
      throw error;
    }
  };

  return {
    chapters,
    async published(page, { signal, isGivenUp }) {
      const { transcripts } = episodeOf(page.metadata);
      const ranked = transcripts
        .filter(({ url }) => !isBlacklisted(url))
        .map((each) => ({ each, rank: ranks.indexOf(transcriptFormat(each.type, each.url)) }))
        .sort((a, b) => a.rank - b.rank);
      if (ranked.length === 0) return null;
      const listed = await chapters(page, signal);
      for (const { each } of ranked) {
        try {
          const read = await readOne(each, listed, signal);
          if (read.text.text !== '') return read;
        } catch (error) {
          if (!(error instanceof FetchError) || !isGivenUp(error)) throw error;
        }
      }
      return null;
    },
  };
}

/** Reads a podcast episode's chapters, and its published transcript, which is preferred to speech recognition. */
import { readChapters, type TranscriptFormat, transcriptFormat } from '../../compute/transcript/read-transcript.ts';
import type { Chapter, TranscriptText } from '../../compute/transcript/transcript-text.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import type { Page } from '../../domain/page.ts';
import { episodeOf, type PublishedTranscript } from '../../domain/watch-config.ts';
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

export type EpisodeReader = ReturnType<typeof episodeReader>;

/** Best first: formats with times. */
const ranks: readonly (TranscriptFormat | null)[] = ['captions', 'json', 'html', 'text', null];
/** A thousand chapters have 100 KB; parsing takes 2 ms on the main thread. */
const maxChaptersBytes = 200_000;

export function episodeReader(dependencies: EpisodeReaderDependencies) {
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
    // The feed's type is more reliable than the server's.
    const called = transcriptFormat(type, url) ?? transcriptFormat(said.type, answer.finalUrl);
    const transcript = { bytes: answer.body, charset: said.charset, called, chapters };
    return { finalUrl: answer.finalUrl, text: await readTranscript(transcript, signal) };
  };

  /** Empty if unavailable. Errors: FetchError `offline`; the signal's reason. */
  const chapters = async ({ metadata }: Page, signal: AbortSignal): Promise<Chapter[]> => {
    const { chapters_url } = episodeOf(metadata);
    if (chapters_url === null || isBlacklisted(chapters_url)) return [];
    try {
      const { body } = await load(chapters_url, signal, maxChaptersBytes);
      return readChapters(Buffer.from(body).toString());
    } catch (error) {
      // Chapters do not justify another attempt.
      if (error instanceof FetchError && error.code !== 'offline') return [];
      throw error;
    }
  };

  return {
    chapters,
    /** The best one. `isGivenUp`: whether an error is final. Errors: FetchError, JobError; the signal's reason. */
    async published(
      page: Page,
      { signal, isGivenUp }: { signal: AbortSignal; isGivenUp: (error: FetchError) => boolean },
    ): Promise<{ finalUrl: string; text: TranscriptText } | null> {
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

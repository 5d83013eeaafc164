/** Reads videos: description and captions by yt-dlp, or else the transcribed sound. Captions are fetched like pages. */
import { closing } from '../../compute/closing.ts';
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import { type CaptionWishes, type ChosenCaptions, chooseCaptions } from '../../compute/transcript/choose-captions.ts';
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import type { VideoInfo, VideoList } from '../../compute/transcript/video-info.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import type { Page } from '../../domain/page.ts';
import type { PageFacts } from '../../domain/page-facts.ts';
import { videoWishesOf } from '../../domain/watch-config.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { statusError, type WebFetch } from '../../providers/web-fetch.ts';
import type { YtDlp } from '../../providers/yt-dlp.ts';
import type { JobContext } from '../system/job-actor.ts';
import { contentTypeOf } from './content-readers.ts';
import type { MediaReader } from './parser-pool.ts';
import type { RecordingReader } from './read-recording.ts';

export interface VideoReaderDependencies {
  ytDlp: YtDlp;
  parser: Pick<MediaReader, 'readInfo' | 'readCaptions'>;
  fetch: WebFetch;
  /** With subdomains. */
  hosts: readonly string[];
  readsCaptions: boolean;
  wishes: CaptionWishes;
  now: () => number;
}

export interface ReadVideo {
  finalUrl: string;
  page: ExtractedPage & PageFacts;
}

export interface VideoAttempt extends Pick<JobContext, 'signal' | 'extendTime'> {
  /** There is no later attempt, so do not wait for captions. */
  isLast: boolean;
  /** Called before anything is loaded. Errors: FetchError for a blacklisted address. */
  admit(finalUrl: string): void;
  recordings: Pick<RecordingReader, 'readsVideos' | 'openVideo'>;
}

export type VideoReader = ReturnType<typeof openVideoReader>;

/** Per host, one page is read and one waits, so that other hosts get their turn. */
const maxAhead = 1;
/** A captions file of ten hours is about 2 MB. */
const maxCaptionsBytes = 10_000_000;
/** Age below which a video is checked again for automatic captions, ms. */
const freshForMs = 86_400_000;
const againAfterMs = 6 * 3_600_000;

export function openVideoReader(dependencies: VideoReaderDependencies) {
  const { ytDlp, parser, fetch, hosts, readsCaptions, wishes, now } = dependencies;

  const unavailable = (): string | null =>
    readsCaptions ? ytDlp.missing() : 'captions of videos are not read: fetch.video_captions is off';
  const refuseUnavailable = () => {
    const reason = unavailable();
    if (reason !== null) throw new FetchError('program_missing', reason);
  };

  /** Null if the address has no video. */
  const describe = async (url: string, signal: AbortSignal): Promise<VideoInfo | null> => {
    let described: Uint8Array;
    try {
      described = await ytDlp.describe(url, { signal, maxAhead });
    } catch (error) {
      if (error instanceof FetchError && error.code === 'no_video') return null;
      throw error;
    }
    const info = await parser.readInfo(described, signal);
    if (info.kind === 'video') return info;
    if (info.only !== null) return info.only;
    throw new FetchError('no_video', 'the address is a list of videos: use a watch of kind video');
  };

  /** For a video without captions. Errors: FetchError unless it can be transcribed now. */
  const refuseSilent = (info: VideoInfo, { isLast, recordings }: VideoAttempt) => {
    const isFresh = info.published_at !== null && now() - Date.parse(info.published_at) < freshForMs;
    if (recordings.readsVideos && (isLast || !isFresh)) return;
    const message =
      info.captions.length === 0 ? 'the video has no captions' : 'the video has no captions that are wanted';
    throw new FetchError('no_captions', message, isFresh ? { permanent: false, retryAfterMs: againAfterMs } : {});
  };

  /** Asks for the video again, as addresses of sounds expire and are bound to one program. */
  const transcriptOf = async (url: string, info: VideoInfo, attempt: VideoAttempt): Promise<TranscriptText> => {
    const { signal, extendTime } = attempt;
    await using recording = closing(attempt.recordings.openVideo());
    await extendTime();
    const { maxBytes, timeoutMs } = recording.sink;
    await ytDlp.loadSound(url, { path: await recording.path(), maxBytes, timeoutMs, signal, maxAhead });
    return await recording.read(info.chapters, { signal, extendTime });
  };

  const captionsOf = async ({ form }: ChosenCaptions, info: VideoInfo, signal: AbortSignal) => {
    const file = { bytes: Buffer.from(form.data ?? ''), charset: 'utf-8' as string | null };
    if (form.url !== null) {
      const answer = await fetch(form.url, { signal, maxBytes: maxCaptionsBytes });
      const refusal = statusError(answer);
      if (refusal !== null) throw refusal;
      file.bytes = Buffer.from(answer.body);
      file.charset = contentTypeOf(answer.headers['content-type']).charset;
    }
    return parser.readCaptions({ ...file, chapters: info.chapters }, signal);
  };

  return {
    unavailable,
    /** Null if it is no video. Errors: FetchError, JobError, ProviderError, BreakerOpenError; the signal's reason. */
    async read({ canonical_url, domain, metadata }: Page, attempt: VideoAttempt): Promise<ReadVideo | null> {
      const { signal } = attempt;
      const { isWatched, langs } = videoWishesOf(metadata);
      if (!isWatched && !hosts.some((host) => domainMatches(domain, host))) return null;
      refuseUnavailable();
      const info = await describe(canonical_url, signal);
      if (info === null) {
        // A list's entry must be a video; other pages of a video site may be pages.
        if (isWatched) throw new FetchError('no_video', 'no video is at this address');
        return null;
      }
      refuseUnfinished(info);
      const finalUrl = info.url ?? canonical_url;
      attempt.admit(finalUrl);
      const chosen = chooseCaptions(info.captions, info.lang, { ...wishes, langs: langs ?? wishes.langs });
      if (chosen === null) {
        refuseSilent(info, attempt);
        const said = await transcriptOf(canonical_url, info, attempt);
        return { finalUrl, page: { ...factsOf(info), ...said, lang: info.lang, transcript: 'local' } };
      }
      const said = await captionsOf(chosen, info, signal);
      const captions = chosen.automatic ? 'automatic' : 'manual';
      return { finalUrl, page: { ...factsOf(info), ...said, lang: chosen.lang, captions } };
    },
    async list(
      url: string,
      { max, from }: { max: number; from: 'start' | 'end' },
      signal: AbortSignal,
    ): Promise<VideoList> {
      refuseUnavailable();
      const listed = await ytDlp.list(url, { max, from, signal, maxAhead: Number.POSITIVE_INFINITY });
      const info = await parser.readInfo(listed, signal);
      if (info.kind === 'list') return info;
      throw new FetchError('no_video', 'the address is that of one video, not of a list');
    },
  };
}

function refuseUnfinished({ state }: VideoInfo): void {
  if (state === 'there') return;
  const message = state === 'live' ? 'the video is live' : 'the video has not been shown yet';
  throw new FetchError('video_unfinished', message, { retryAfterMs: againAfterMs });
}

function factsOf({ title, uploader, published_at, site, duration_s }: VideoInfo) {
  return { title, author: uploader, published_at, site_name: site, duration_s };
}

/**
 * Reads pages that are videos: what yt-dlp says of them, and those captions that the settings want, as a text whose sections begin at a
 * second of the video. The captions are fetched like any page, with the same limits and turns. Of a video without captions the sound is
 * loaded and transcribed, where that is possible; pictures are loaded only where the sound is not to be had without.
 */
import type { ExtractedPage } from '../../compute/extraction/extract-html.ts';
import type { TranscriptText } from '../../compute/transcript/transcript-text.ts';
import { type CaptionWishes, type ChosenCaptions, chooseCaptions } from '../../compute/video/choose-captions.ts';
import type { VideoInfo, VideoList } from '../../compute/video/video-info.ts';
import { domainMatches } from '../../compute/web/domain-match.ts';
import type { Page } from '../../domain/page.ts';
import type { PageFacts } from '../../domain/page-facts.ts';
import { videoWishesOf } from '../../domain/video-config.ts';
import { FetchError } from '../../providers/fetch-error.ts';
import { statusError, type WebFetch } from '../../providers/web-fetch.ts';
import type { YtDlp } from '../../providers/yt-dlp.ts';
import type { JobContext } from '../jobs/job-actor.ts';
import { contentTypeOf } from './content-readers.ts';
import type { RecordingReader } from './read-recording.ts';
import { openVideoParser } from './video-parser.ts';

export interface VideoReaderDependencies {
  ytDlp: YtDlp;
  fetch: WebFetch;
  /** `fetch.video_hosts`: domains, with those below them. */
  hosts: readonly string[];
  /** `fetch.video_captions`. */
  readsCaptions: boolean;
  wishes: CaptionWishes;
  now: () => number;
}

export interface ReadVideo {
  /** Where the site has it. */
  finalUrl: string;
  page: ExtractedPage & PageFacts;
}

/** The attempt that a video is read in. */
export interface VideoAttempt extends Pick<JobContext, 'signal' | 'goOn'> {
  /** There is no other one that captions could be waited for. */
  isLast: boolean;
  /** Before anything is loaded for a page that is read elsewhere. Errors: FetchError where that is blacklisted. */
  admit(finalUrl: string): void;
  recordings: Pick<RecordingReader, 'readsVideos' | 'openVideo'>;
}

export interface VideoReader {
  /** Why videos cannot be read, in a sentence; null where they can. */
  unavailable(): string | null;
  /**
   * What is said in the video that a page is; null for a page that is none: of another host, or one on which no video is.
   * Errors: FetchError; JobError; of transcribing, ProviderError and BreakerOpenError; the signal's reason.
   */
  read(page: Page, attempt: VideoAttempt): Promise<ReadVideo | null>;
  /** The list at an address. Errors: as of `read`. */
  list(url: string, range: { max: number; from: 'start' | 'end' }, signal: AbortSignal): Promise<VideoList>;
  close(): Promise<void>;
}

/** Of the pages of one host one is read, as many wait, and the others let pages of other hosts go first. */
const maxAhead = 1;
/** A captions file of ten hours is about 2 MB. */
const maxCaptionsBytes = 10_000_000;
/** Machines take hours to write down what was said in a new video; for about a day it is looked at again, ms. */
const freshForMs = 86_400_000;
const againAfterMs = 6 * 3_600_000;

export function openVideoReader(dependencies: VideoReaderDependencies): VideoReader {
  const { ytDlp, fetch, hosts, readsCaptions, wishes, now } = dependencies;
  const parser = openVideoParser();

  const unavailable = () =>
    readsCaptions ? ytDlp.missing() : 'captions of videos are not read: fetch.video_captions is off';
  const refuseUnavailable = () => {
    const reason = unavailable();
    if (reason !== null) throw new FetchError('program_missing', reason);
  };

  /** Null where no video is at the address. */
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
    throw new FetchError('no_video', 'the address is that of a list of videos: a watch of kind video reads those');
  };

  /** For a video without the captions that are wanted. Errors: FetchError where they are all that is read, or may come yet. */
  const refuseSilent = (info: VideoInfo, { isLast, recordings }: VideoAttempt) => {
    const isFresh = info.published_at !== null && now() - Date.parse(info.published_at) < freshForMs;
    if (recordings.readsVideos && (isLast || !isFresh)) return;
    const message =
      info.captions.length === 0 ? 'the video has no captions' : 'the video has no captions that are wanted';
    throw new FetchError('no_captions', message, isFresh ? { permanent: false, retryAfterMs: againAfterMs } : {});
  };

  /** The one at `url`, which is asked again: addresses of sounds are good for one program and a short time. */
  const transcriptOf = async (url: string, info: VideoInfo, attempt: VideoAttempt): Promise<TranscriptText> => {
    const { signal, goOn } = attempt;
    const recording = attempt.recordings.openVideo();
    try {
      await goOn();
      const { maxBytes, timeoutMs } = recording.sink;
      await ytDlp.loadSound(url, { path: await recording.path(), maxBytes, timeoutMs, signal, maxAhead });
      return await recording.read(info.chapters, { signal, goOn });
    } finally {
      await recording.close();
    }
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
    async read({ canonical_url, domain, metadata }, attempt) {
      const { signal } = attempt;
      const { isWatched, langs } = videoWishesOf(metadata);
      if (!isWatched && !hosts.some((host) => domainMatches(domain, host))) return null;
      refuseUnavailable();
      const info = await describe(canonical_url, signal);
      if (info === null) {
        // A list that names what is no video is mistaken; a site of videos has pages of other kinds.
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
    async list(url, { max, from }, signal) {
      refuseUnavailable();
      const listed = await ytDlp.list(url, { max, from, signal, maxAhead: Number.POSITIVE_INFINITY });
      const info = await parser.readInfo(listed, signal);
      if (info.kind === 'list') return info;
      throw new FetchError('no_video', 'the address is that of one video, not of a list');
    },
    close: () => parser.close(),
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

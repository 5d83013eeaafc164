/** The host: what all libraries of a process share: threads, the word list, outside providers and their breakers. */
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { type RecordingReader, recordingReader } from '../actors/fetching/read-recording.ts';
import { openVideoReader, type VideoReader } from '../actors/fetching/read-video.ts';
import type { RecoverPage } from '../actors/indexes/start-recovery.ts';
import { createBreakers } from '../actors/system/breakers.ts';
import type { JobHandler } from '../actors/system/job-actor.ts';
import { feedPoller, podcastPoller, podcastsUnavailable } from '../actors/watches/poll-feed.ts';
import { videoPoller } from '../actors/watches/poll-videos.ts';
import type { Pollers } from '../actors/watches/poll-watch.ts';
import { addressPolicy } from '../compute/web/address-policy.ts';
import type { Capabilities } from '../domain/admin.ts';
import { builtInModel } from '../domain/model.ts';
import { Encoder } from '../encoder/encoder.ts';
import { checkEncoderFiles, encoderDir } from '../encoder/encoder-files.ts';
import { type Clock, systemClock } from '../providers/clock.ts';
import { type Embedders, openEmbedders } from '../providers/embedders.ts';
import { type Network, nameServerAnswers, networkName, openNetwork } from '../providers/network.ts';
import { chatClientOf, endpointRecognizerOf, rerankerOf } from '../providers/open-from-settings.ts';
import { openRecordingFolder } from '../providers/recording-folder.ts';
import type { Lookup } from '../providers/resolve-host.ts';
import { openTranscription, type Transcription } from '../providers/transcription.ts';
import { createWebFetch, type WebFetch } from '../providers/web-fetch.ts';
import { openYtDlp, type YtDlp } from '../providers/yt-dlp.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Semaphore } from '../threads/semaphore.ts';
import { version } from '../version.ts';
import { encoderHangMs } from './job-limits.ts';
import { type HostThreads, openThreads } from './open-threads.ts';

interface Surroundings {
  now: () => number;
  monotonic: () => number;
  random: () => number;
}

export interface OutsideOptions extends Surroundings {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  threads: Pick<HostThreads, 'media'>;
  encoder: Encoder;
  web: WebSurroundings;
}

/** The network environment; the system's by default. */
interface WebSurroundings {
  lookup?: Lookup;
  /** Returns whether any address outside responds. */
  probe?: () => Promise<boolean>;
}

export type Outside = ReturnType<typeof openOutside>;

/** Folder for external programs and recordings, emptied by the process. */
export const temporaryFolder = (dataDir: string): string => join(dataDir, 'tmp');

function openOutside(options: OutsideOptions) {
  const { settings, log, metrics, threads, encoder, now, monotonic, random } = options;
  const { resilience } = settings;
  const breakers = createBreakers({
    policy: {
      failureThreshold: resilience.breaker_failure_threshold,
      cooldownMs: resilience.breaker_cooldown_s * 1000,
    },
    monotonic,
    log,
  });
  const calls = { breakers, clock: { ...systemClock, monotonic, wall: now }, random };
  const networkBreaker = breakers.of(networkName);
  const policy = addressPolicy(settings.fetch.allow_private_hosts);
  const { probe = () => nameServerAnswers(policy), ...lookup } = options.web;
  const network = openNetwork({ breaker: networkBreaker, probe, clock: calls.clock });
  const fetch = webFetchOf(settings, { network, clock: calls.clock, ...lookup });
  const ytDlp = ytDlpOf(options, { network, ...lookup });
  const videos = videosOf(options, ytDlp, fetch);
  const transcription = openTranscription(settings, endpointRecognizerOf(settings, calls));
  const pollers: Pollers = {
    rss: feedPoller({ fetch, read: threads.media.readItems }),
    podcast: podcastPoller({
      fetch,
      readEpisodes: threads.media.readEpisodes,
      unavailable: podcastsUnavailable(settings, transcription.found),
    }),
    video: videoPoller({ videos, maxEntries: settings.watch.video_max_entries }),
  };
  const stopping = new AbortController();
  const embedders = openEmbedders({
    settings,
    stopping: stopping.signal,
    encoder,
    ...calls,
    onError: (provider) => metrics.embeddingErrors.inc({ provider }),
  });

  return {
    breakers,
    /** Breaker of all outgoing web traffic. */
    networkBreaker,
    fetch,
    pollers,
    videos,
    recordings: recordingsOf(options, transcription),
    embedders,
    /** `name` is for the query log. */
    reranker: settings.reranker.kind === 'api' ? rerankerOf(settings, calls) : null,
    chat: chatClientOf(settings, calls),
    programs: () => ({ yt_dlp: ytDlp.missing() ?? 'found', transcription: transcription.found }),
    /** Versions of external programs; null if missing or unusable. */
    capabilities: async (): Promise<Capabilities> => ({
      yt_dlp: await ytDlp.version(stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'yt-dlp does not work');
        return null;
      }),
      transcription: transcription.found,
    }),
    close: () => stopping.abort(new Error('the service stops')),
  };
}

function webFetchOf({ fetch }: Settings, shared: { network: Network; clock: Clock; lookup?: Lookup }): WebFetch {
  return createWebFetch({
    allowPrivateHosts: fetch.allow_private_hosts,
    perHostGapMs: fetch.per_host_gap_ms,
    timeoutMs: fetch.timeout_s * 1000,
    maxBytes: fetch.max_bytes,
    userAgent: `Mozilla/5.0 (compatible; readback/${version})`,
    ...shared,
  });
}

function ytDlpOf(
  { settings: { program_path, fetch, data_dir } }: OutsideOptions,
  shared: { network: Network; lookup?: Lookup },
): YtDlp {
  return openYtDlp({
    searchPath: program_path,
    tempDir: join(temporaryFolder(data_dir), 'yt-dlp'),
    allowPrivateHosts: fetch.allow_private_hosts,
    perHostGapMs: fetch.per_host_gap_ms,
    timeoutMs: fetch.video_timeout_s * 1000,
    ...shared,
  });
}

function videosOf({ settings, threads, now }: OutsideOptions, ytDlp: YtDlp, fetch: WebFetch): VideoReader {
  return openVideoReader({
    ytDlp,
    parser: threads.media,
    fetch,
    hosts: settings.fetch.video_hosts,
    readsCaptions: settings.fetch.video_captions,
    wishes: {
      langs: settings.fetch.video_caption_langs,
      allowAutomatic: settings.fetch.video_allow_auto_captions,
    },
    now,
  });
}

function recordingsOf(
  { settings: { fetch, data_dir }, random }: OutsideOptions,
  transcription: Transcription,
): RecordingReader {
  return recordingReader({
    transcription,
    folder: openRecordingFolder(join(temporaryFolder(data_dir), 'recordings')),
    maxBytes: fetch.audio_max_bytes,
    timeoutMs: fetch.audio_timeout_s * 1000,
    reads: {
      audio: fetch.audio_transcripts,
      podcasts: fetch.podcast_transcripts,
      videos: fetch.video_transcribe_fallback,
    },
    random,
  });
}

export interface HostOptions extends Partial<Surroundings> {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  web?: WebSurroundings;
  /** Wraps the embedders, for tests. */
  aroundEmbedders?: (embedders: Embedders) => Embedders;
  /** Shared by several hosts of one process; the creator closes them. */
  threads?: HostThreads;
  encoder?: Encoder;
  /** Wraps the handler of `index_page` jobs, for tests. */
  aroundIndexPage?: (handler: JobHandler) => JobHandler;
  /** Wraps the recovery of a page's text, for tests. */
  aroundRecovery?: (recoverPage: RecoverPage) => RecoverPage;
}

export type Host = ReturnType<typeof openHost>;

const openAtOnce = 2;
/** Max libraries read from PostgreSQL at once, piece by piece, so that small ones do not wait for a large one. */
const bringUpAtOnce = 8;

/** Errors: OperatorError `encoder_files`, `word_list`. */
export function openHost(options: HostOptions) {
  const { settings, log, metrics, web = {} } = options;
  const { aroundIndexPage = (handler: JobHandler) => handler } = options;
  const { aroundRecovery = (recoverPage: RecoverPage) => recoverPage } = options;
  const { now = Date.now, monotonic = () => performance.now(), random = Math.random } = options;
  const surroundings: Surroundings = { now, monotonic, random };
  const dir = settings.encoder.dir ?? encoderDir;
  checkEncoderFiles(dir);
  const threads = options.threads ?? openThreads(settings);
  const own = { dir, dim: builtInModel.dim, hangMs: encoderHangMs(settings), log };
  const encoder = options.encoder ?? new Encoder(own);
  const opened = openOutside({ ...surroundings, settings, log, metrics, threads, encoder, web });
  const outside = { ...opened, embedders: options.aroundEmbedders?.(opened.embedders) ?? opened.embedders };
  metrics.breakers.collected = outside.breakers.states;
  return {
    ...surroundings,
    settings,
    log,
    metrics,
    threads,
    outside,
    encoder,
    aroundIndexPage,
    aroundRecovery,
    /** There is one encoder, and libraries take turns to fill the built-in model. */
    encoderPlace: new Semaphore(1, Number.POSITIVE_INFINITY),
    /** Limits how many libraries scan their stores at once before they serve. */
    opening: pLimit(openAtOnce),
    /** Limits how many copies are read from PostgreSQL at once. */
    bringingUp: pLimit(bringUpAtOnce),
    /** Call after every library is closed. */
    async close(): Promise<void> {
      outside.close();
      if (options.encoder === undefined) await encoder.close();
      if (options.threads === undefined) await threads.close();
    },
  };
}

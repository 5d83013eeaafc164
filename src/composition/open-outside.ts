/** The outside world: the web, programs beside the service, and providers of models, each behind its breaker. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type RecordingReader, recordingReader } from '../actors/fetching/read-recording.ts';
import { openVideoReader, type VideoReader } from '../actors/fetching/read-video.ts';
import { transformerThreads } from '../actors/models/transformer-threads.ts';
import { type Breakers, createBreakers } from '../actors/system/breakers.ts';
import { feedPoller } from '../actors/watches/poll-feed.ts';
import { podcastPoller, podcastsUnavailable } from '../actors/watches/poll-podcast.ts';
import { videoPoller } from '../actors/watches/poll-videos.ts';
import type { Pollers } from '../actors/watches/poll-watch.ts';
import { addressPolicy } from '../compute/web/address-policy.ts';
import type { Capabilities } from '../domain/capabilities.ts';
import { errorMessage } from '../domain/error-message.ts';
import type { ChatClient } from '../providers/chat-client.ts';
import { type Clock, systemClock } from '../providers/clock.ts';
import { type Embedders, openEmbedders } from '../providers/embedders.ts';
import { type Network, nameServerAnswers, networkName, openNetwork } from '../providers/network.ts';
import { chatClientOf, endpointRecognizerOf, type NamedReranker, rerankerOf } from '../providers/open-from-settings.ts';
import type { ProviderBreaker } from '../providers/provider-settings.ts';
import { openRecordingFolder } from '../providers/recording-folder.ts';
import type { Lookup } from '../providers/resolve-host.ts';
import { openTranscription, type Transcription } from '../providers/transcription.ts';
import { transformersPackage } from '../providers/transformers.ts';
import { createWebFetch, type WebFetch } from '../providers/web-fetch.ts';
import { openYtDlp, type YtDlp } from '../providers/yt-dlp.ts';
import type { Settings } from '../settings/read-settings.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { version } from '../version.ts';
import type { Threads } from './open-threads.ts';

/** Clocks and chance. */
export interface Surroundings {
  /** Wall clock, ms. */
  now: () => number;
  /** Never goes back, ms. */
  monotonic: () => number;
  /** In [0, 1). */
  random: () => number;
}

export interface OutsideOptions extends Surroundings {
  settings: Settings;
  log: Logger;
  metrics: Metrics;
  threads: Pick<Threads, 'feeds'>;
  /** URL of the main file of @huggingface/transformers, where it is not installed beside the service. */
  transformersModule: string | undefined;
  web: WebSurroundings;
}

/** What stands between this machine and the web; the system's own unless given. */
export interface WebSurroundings {
  lookup?: Lookup;
  /** Whether anything beyond this machine answers now. */
  probe?: () => Promise<boolean>;
}

export interface Outside {
  breakers: Breakers;
  /** Of everything that goes out to the web. */
  networkBreaker: ProviderBreaker;
  fetch: WebFetch;
  /** One for each kind of watch; a kind without one cannot be watched. */
  pollers: Pollers;
  videos: VideoReader;
  recordings: RecordingReader;
  embedders: Embedders;
  /** Where `reranker.kind` is `api`; `name` is how the query log calls it. */
  reranker: NamedReranker | null;
  /** The language model of `llm.*`, or null where none is set. */
  chat: ChatClient | null;
  /** Programs beside the service, as the log is to tell of them. */
  programs(): { yt_dlp: string; transcription: Capabilities['transcription'] };
  /** Programs beside the service that it can use, with their versions; null for one that is not there or does not work. */
  capabilities(): Promise<Capabilities>;
  close(): Promise<void>;
}

/** Of runs of other programs, and recordings; what is in it is of the process that runs. */
export const temporaryFolder = (dataDir: string): string => join(dataDir, 'tmp');

export function openOutside(options: OutsideOptions): Outside {
  const { settings, log, metrics, threads, now, monotonic, random } = options;
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
    rss: feedPoller({ fetch, read: threads.feeds.read }),
    podcast: podcastPoller({
      fetch,
      readEpisodes: threads.feeds.readEpisodes,
      unavailable: podcastsUnavailable(settings, transcription.found),
    }),
    video: videoPoller({ videos, maxEntries: settings.watch.video_max_entries }),
  };
  const transformers = transformerThreads({
    module: options.transformersModule ?? transformersPackage,
    cacheDir: settings.cache_dir,
  });
  const stopping = new AbortController();
  const embedders = openEmbedders({
    settings,
    stopping: stopping.signal,
    runTransformer: transformers.run,
    ...calls,
    onError: (provider) => metrics.embeddingErrors.inc({ provider }),
  });

  const reranker = settings.reranker.kind === 'api' ? rerankerOf(settings, calls, transformers.score) : null;
  warmUp(reranker, log, stopping.signal, monotonic);
  return {
    breakers,
    networkBreaker,
    fetch,
    pollers,
    videos,
    recordings: recordingsOf(options, transcription),
    embedders,
    reranker,
    chat: chatClientOf(settings, calls),
    programs: () => ({ yt_dlp: ytDlp.missing() ?? 'found', transcription: transcription.found }),
    capabilities: async () => ({
      yt_dlp: await ytDlp.version(stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'yt-dlp does not work');
        return null;
      }),
      transcription: transcription.found,
    }),
    close: async () => {
      stopping.abort(new Error('the service stops'));
      await Promise.all([videos.close(), transformers.close()]);
    },
  };
}

/** Beside the start, which does not wait for a model to be fetched. */
function warmUp(reranker: NamedReranker | null, log: Logger, stopping: AbortSignal, monotonic: () => number): void {
  if (reranker === null || reranker.warm === null) return;
  const { name: model } = reranker;
  const began = monotonic();
  reranker.warm().then(
    () => log.info({ model, ms: Math.round(monotonic() - began) }, 'the reranker is loaded'),
    (error) => {
      if (stopping.aborted) return;
      log.warn({ model, reason: errorMessage(error) }, 'the reranker is not there: searches have the local order');
    },
  );
}

function webFetchOf({ fetch }: Settings, beside: { network: Network; clock: Clock; lookup?: Lookup }): WebFetch {
  return createWebFetch({
    allowPrivateHosts: fetch.allow_private_hosts,
    perHostGapMs: fetch.per_host_gap_ms,
    timeoutMs: fetch.timeout_s * 1000,
    maxBytes: fetch.max_bytes,
    userAgent: `Mozilla/5.0 (compatible; readback/${version})`,
    ...beside,
  });
}

function ytDlpOf(
  { settings: { program_path, fetch, data_dir } }: OutsideOptions,
  beside: { network: Network; lookup?: Lookup },
): YtDlp {
  return openYtDlp({
    searchPath: program_path,
    tempDir: join(temporaryFolder(data_dir), 'yt-dlp'),
    allowPrivateHosts: fetch.allow_private_hosts,
    perHostGapMs: fetch.per_host_gap_ms,
    timeoutMs: fetch.video_timeout_s * 1000,
    ...beside,
  });
}

function videosOf({ settings, now }: OutsideOptions, ytDlp: YtDlp, fetch: WebFetch): VideoReader {
  return openVideoReader({
    ytDlp,
    fetch,
    hosts: settings.fetch.video_hosts,
    readsCaptions: settings.fetch.video_captions,
    wishes: {
      langs: settings.fetch.video_caption_langs,
      order: settings.fetch.video_caption_order,
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

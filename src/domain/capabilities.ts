/** What is beside the service, which it uses where it is there: found at run time, no settings. */
export interface Capabilities {
  /** Null where it is not there or does not work. `guarded`: whether it keeps to the proxy by more than its option (docs/video.md). */
  yt_dlp: { version: string; guarded: boolean } | null;
  transcription: FoundTranscription;
}

/** What recordings are transcribed with (docs/podcasts.md). */
export interface FoundTranscription {
  kind: 'command' | 'endpoint' | 'pocketsphinx' | null;
  /** Which program or address; or why nothing can be transcribed, in a sentence. */
  detail: string;
  /** Whether recordings of any format are decoded and sent in pieces. */
  ffmpeg: boolean;
}

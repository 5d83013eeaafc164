/** Optional external programs, found at run time. */
export interface Capabilities {
  /** Null if missing or broken. `guarded`: whether it keeps to the proxy by more than its option (docs/video.md). */
  yt_dlp: { version: string; guarded: boolean } | null;
  transcription: FoundTranscription;
}

/** The speech recognizer (docs/video.md). */
export interface FoundTranscription {
  kind: 'command' | 'endpoint' | null;
  /** Its program or address, or why nothing can be transcribed. */
  detail: string;
  /** Whether recordings of any format can be decoded and split. */
  ffmpeg: boolean;
}

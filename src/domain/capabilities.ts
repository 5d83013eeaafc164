/** Programs beside the service, which it uses where they are there: found at run time, no settings. */
export interface Capabilities {
  /** Null where it is not there or does not work. `guarded`: whether it keeps to the proxy by more than its option (docs/video.md). */
  yt_dlp: { version: string; guarded: boolean } | null;
}

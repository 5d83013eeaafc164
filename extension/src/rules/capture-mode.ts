/** Pages sent by address, because the service reads them better than the browser shows them (docs/fetching.md, docs/video.md). Pure. */
import { domainMatches } from '../../../src/compute/web/domain-match.ts';
import type { CaptureMode } from '../messages.ts';

/** The service's default `fetch.video_hosts`. */
const videoHosts = ['youtube.com', 'youtu.be', 'vimeo.com'];

export function captureModeOf(url: string): CaptureMode {
  const { hostname, pathname } = new URL(url);
  if (/\.pdf$/i.test(pathname)) return 'address';
  return videoHosts.some((host) => domainMatches(hostname, host)) ? 'address' : 'html';
}

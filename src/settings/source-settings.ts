/** Settings of page sources: fetching, video and audio, PDF, watches. */
import { z } from 'zod';
import { isHostRule } from '../compute/web/address-policy.ts';
import { maxIntervalHours } from '../domain/watch.ts';
import { aboveZero, addressOrNone, flag, integer, secretOrNone, text, textList, textOrNone } from './declare.ts';

export const fetch = z.object({
  timeout_s: aboveZero(
    10,
    'Max seconds to fetch one page, redirects included. Waiting for the turn of its host does not count.',
  ),
  max_bytes: integer(10_000_000, 1, 'Max decoded bytes of a page.'),
  video_timeout_s: aboveZero(60, 'Max seconds of one run of yt-dlp.'),
  audio_max_bytes: integer(250_000_000, 1, 'Max bytes of an audio file, which is stored in a temporary file.'),
  audio_timeout_s: aboveZero(300, 'Max seconds to fetch an audio file.'),
  video_captions: flag(true, 'Read the captions of videos. If off, videos have no text.'),
  video_allow_auto_captions: flag(true, 'Accept automatic captions.'),
  video_transcribe_fallback: flag(
    true,
    'Transcribe videos without captions, if a recognizer is set up (docs/video.md).',
  ),
  audio_transcripts: flag(true, 'Transcribe audio files.'),
  podcast_transcripts: flag(true, 'Read episodes of podcasts. If off, podcasts cannot be watched.'),
  video_caption_langs: textList(['en', 'en-US', 'en-GB'], 'Languages of captions, best first; `en` includes `en-AU`.'),
  video_speech_model: text('small', 'Size of the local speech model, for `{model}` in `transcribe.command`.'),
  video_hosts: textList(
    ['youtube.com', 'youtu.be', 'vimeo.com'],
    'Domains (with subdomains) whose pages are videos (docs/video.md).',
  ),
  allow_private_hosts: z
    .array(z.string().refine(isHostRule))
    .default(() => [])
    .meta({
      description:
        'Private, loopback or link-local hosts that may be fetched: host names (without subdomains), addresses or CIDR ranges, compared with the host of the URL and with its resolved address.',
      rule: 'a JSON list of host names, addresses and CIDR ranges',
    }),
  per_host_gap_ms: integer(
    500,
    0,
    'Milliseconds between two fetches from one host; 0 for hosts in `fetch.allow_private_hosts`.',
  ),
});

export const transcribe = z.object({
  command: textOrNone(
    'Command that transcribes an audio file, such as `whisper-cli -m /models/ggml-{model}.bin -f {audio} -of {output} -oj`; run without a shell (docs/video.md).',
  ),
  base_url: addressOrNone('Address of an OpenAI-compatible transcription endpoint, used if no command is set.'),
  api_key: secretOrNone('Its key.'),
  model: text('whisper-1', 'Name of the model at the endpoint.'),
  timeout_s: aboveZero(300, 'Max seconds of the endpoint for five minutes of audio, in one try.'),
});

export const pdf = z.object({
  strip_repeated_lines: flag(true, 'Drop headers and footers: lines that repeat on most pages.'),
  repeated_line_ratio: z.number().positive().max(1).default(0.6).meta({
    description: 'Min share of pages with such a line.',
  }),
  repeated_line_scan: integer(2, 1, 'Lines examined at the top and at the bottom of each page.'),
  min_pages_for_stripping: integer(3, 1, 'Min pages of a PDF for dropping lines.'),
});

export const watch = z.object({
  default_interval_hours: integer(24, 1, 'Hours between two polls, unless the watch sets it.', maxIntervalHours),
  poll_tick_enabled: flag(true, 'Poll due watches every minute.'),
  max_due_per_tick: integer(20, 1, 'Max watches polled in one minute.'),
  max_items_per_poll: integer(200, 1, 'Max items of one poll.'),
  video_max_entries: integer(100, 1, 'Max videos that one poll lists of a playlist or channel.'),
});

/** Settings of where pages come from: fetching, video and audio, PDF, watches. */
import { z } from 'zod';
import { type CaptionStep, captionSteps } from '../compute/video/choose-captions.ts';
import { isHostRule } from '../compute/web/address-policy.ts';
import { maxIntervalHours } from '../domain/watch.ts';
import { aboveZero, addressOrNone, flag, integer, secretOrNone, text, textList, textOrNone } from './declare.ts';

export const fetch = z.object({
  timeout_s: aboveZero(
    10,
    'Seconds that fetching one page may take in all, redirects included; waiting for the turn of its host does not count.',
  ),
  max_bytes: integer(10_000_000, 1, 'Bytes, decoded, of a page held in memory.'),
  video_timeout_s: aboveZero(60, 'Seconds that one run of yt-dlp may take: a video is looked at, or a list of videos.'),
  audio_max_bytes: integer(250_000_000, 1, 'Bytes of an audio file, which streams to a temporary file.'),
  audio_timeout_s: aboveZero(300, 'Seconds that fetching one audio file may take.'),
  video_captions: flag(true, 'Read the captions of videos. Without it pages that are videos have no text.'),
  video_allow_auto_captions: flag(true, 'Accept captions that were made by a machine.'),
  video_transcribe_fallback: flag(
    true,
    'Transcribe a video without captions, where something is there to transcribe with (docs/podcasts.md).',
  ),
  audio_transcripts: flag(true, 'Read audio files: transcribe what is said in them.'),
  podcast_transcripts: flag(true, 'Read the episodes of podcasts; without it no podcast can be watched.'),
  video_caption_langs: textList(
    ['en', 'en-US', 'en-GB'],
    'Languages of captions, best first; `en` stands for `en-AU`, too.',
  ),
  video_caption_order: z
    .array(z.enum(captionSteps))
    .min(1)
    .default((): CaptionStep[] => ['manual', 'automatic', 'any_manual', 'any_automatic'])
    .meta({
      description:
        'Which captions are looked for, one step after the other: `manual` and `automatic` ones in `fetch.video_caption_langs`, the same in any language, and `translated` ones, which a machine has put into `fetch.video_caption_langs`.',
      rule: `a JSON list of ${captionSteps.join(', ')}`,
    }),
  video_speech_model: text(
    'small',
    'Size of the local speech model: what stands for `{model}` in `transcribe.command`.',
  ),
  video_hosts: textList(
    ['youtube.com', 'youtu.be', 'vimeo.com'],
    'Domains whose pages are videos (docs/video.md), with those below them.',
  ),
  allow_private_hosts: z
    .array(z.string().refine(isHostRule))
    .default(() => [])
    .meta({
      description:
        'Host names, addresses or CIDR ranges that may be fetched although they are private, loopback or link-local. Matched against the host of the URL and the address that it resolves to; a name does not stand for those below it.',
      rule: 'a JSON list of host names, addresses and CIDR ranges',
    }),
  per_host_gap_ms: integer(
    500,
    0,
    'Milliseconds between two fetches from one host; none for hosts in `fetch.allow_private_hosts`.',
  ),
});

export const transcribe = z.object({
  command: textOrNone(
    'Program, with what it is given, that writes down what is said in a sound file, such as `whisper-cli -m /models/ggml-{model}.bin -f {audio} -of {output} -oj`. No shell: quotes hold a word together (docs/podcasts.md).',
  ),
  base_url: addressOrNone(
    'Address of a transcription endpoint that is compatible with OpenAI’s, used where no command is set.',
  ),
  api_key: secretOrNone('Key for it.'),
  model: text('whisper-1', 'Name of the model at the endpoint.'),
  timeout_s: aboveZero(300, 'Seconds that the endpoint may take for five minutes of a recording, in one try.'),
});

export const pdf = z.object({
  strip_repeated_lines: flag(true, 'Drop headers and footers, lines that recur from page to page.'),
  repeated_line_ratio: z.number().positive().max(1).default(0.6).meta({
    description: 'Share of the pages on which a line must recur.',
  }),
  repeated_line_scan: integer(2, 1, 'Lines looked at, from the top and from the bottom of each page.'),
  min_pages_for_stripping: integer(3, 1, 'Pages below which nothing is dropped.'),
});

export const watch = z.object({
  default_interval_hours: integer(24, 1, 'Hours between two polls of a watch that does not say.', maxIntervalHours),
  poll_tick_enabled: flag(true, 'Poll due watches every minute.'),
  max_due_per_tick: integer(20, 1, 'Watches polled in one minute.'),
  max_items_per_poll: integer(200, 1, 'Items taken from one poll.'),
  video_max_entries: integer(100, 1, 'Videos that one poll lists of a playlist or channel.'),
});

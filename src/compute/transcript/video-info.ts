/** Parses yt-dlp's untrusted description of a video or list, on a thread: every field is optional, checked and cut. */
import { z } from 'zod';
import { itemUrl, oneLine } from '../feed/feed.ts';
import { parsedJson } from '../structures/json-fields.ts';

export interface CaptionTrack {
  /** The name used by the site, such as `en`, `en-US`, `de-orig`. */
  lang: string;
  automatic: boolean;
  forms: CaptionForm[];
}

export interface VideoInfo {
  kind: 'video';
  url: string | null;
  title: string | null;
  uploader: string | null;
  site: string | null;
  lang: string | null;
  published_at: string | null;
  duration_s: number | null;
  /** `later`: not yet available; `live`: still live. */
  state: 'later' | 'live' | 'there';
  chapters: { startS: number; title: string | null }[];
  captions: CaptionTrack[];
}

export interface VideoEntry {
  url: string;
  title: string | null;
  published_at: string | null;
  /** Whether the entry is a list: a channel's tab, a playlist. */
  isList: boolean;
}

export interface VideoList {
  kind: 'list';
  title: string | null;
  entries: VideoEntry[];
  /** The only video of a list, such as a page that embeds one. */
  only: VideoInfo | null;
}

const longestCaptions = 4_000_000;
const maxChapters = 2000;
const maxLanguages = 1000;
const maxForms = 20;
const maxDepth = 3;
/** Sites whose date is the last change of the page, as reported by the server. */
const withoutDates = new Set(['Generic', 'HTML5MediaEmbed']);

const title = z
  .string()
  .transform((text) => oneLine(text))
  .nullable()
  .catch(null);
const seconds = z.number().min(0).max(1e9);
const webUrl = z.string().refine((text) => itemUrl(text, []) !== null);

const captionForm = z.object({
  /** Null in a `CaptionForm` with `data`. */
  url: webUrl.nullable().catch(null),
  data: z.string().max(longestCaptions).nullable().catch(null),
  /** '' if unknown. "unknown_video" means an address without extension. */
  ext: z
    .string()
    .max(20)
    .transform((ext) => (ext === 'unknown_video' ? '' : ext.toLowerCase()))
    .catch(''),
  protocol: z.string().max(40).catch(''),
});
export type CaptionForm = Omit<z.infer<typeof captionForm>, 'protocol'>;
const captions = z.record(z.string(), z.array(captionForm).catch([])).catch({});
const chapter = z.object({ start_time: seconds, title });

const dated = z.object({
  timestamp: z.number().nullable().catch(null),
  upload_date: z
    .string()
    .regex(/^\d{8}$/)
    .nullable()
    .catch(null),
});
const video = dated.extend({
  _type: z.string().default('video'),
  title,
  uploader: title,
  channel: title,
  creator: title,
  extractor_key: title,
  language: z
    .string()
    .regex(/^[a-z]{2,3}(?:[-_][a-z\d]{1,8}){0,3}$/i)
    .nullable()
    .catch(null),
  duration: seconds.nullable().catch(null),
  webpage_url: webUrl.nullable().catch(null),
  live_status: z.string().nullable().catch(null),
  chapters: z.array(chapter.nullable().catch(null)).catch([]),
  subtitles: captions,
  automatic_captions: captions,
});
const list = z.object({ title, entries: z.array(z.unknown()).catch([]) });
const entry = dated.extend({
  _type: z.string().catch('video'),
  title,
  url: webUrl.nullable().catch(null),
  webpage_url: webUrl.nullable().catch(null),
  ie_key: title,
});

/** Errors: none; null for other JSON. */
export function readVideoInfo(json: string): VideoInfo | VideoList | null {
  const parsed = parsedJson(json);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const type = '_type' in parsed ? parsed._type : 'video';
  if (type !== 'playlist' && type !== 'multi_video') return videoOf(parsed);
  const { title, entries } = list.parse(parsed);
  const present = entries.filter((each) => each !== null);
  return {
    kind: 'list',
    title,
    entries: entriesOf(entries, 1),
    only: present.length === 1 ? videoOf(present[0]) : null,
  };
}

/** Null for a nested list or an unresolved address. */
function videoOf(value: unknown): VideoInfo | null {
  const read = video.safeParse(value);
  if (!read.success || read.data._type !== 'video') return null;
  const { extractor_key, language, duration, live_status, chapters } = read.data;
  return {
    kind: 'video',
    url: read.data.webpage_url,
    // yt-dlp adds numbers to videos of unknown sites.
    title: extractor_key === 'HTML5MediaEmbed' ? (read.data.title?.replace(/ \(1\)$/, '') ?? null) : read.data.title,
    uploader: read.data.uploader ?? read.data.channel ?? read.data.creator,
    site: extractor_key !== null && withoutDates.has(extractor_key) ? null : extractor_key,
    lang: language?.replaceAll('_', '-') ?? null,
    published_at: extractor_key !== null && withoutDates.has(extractor_key) ? null : dateOf(read.data),
    duration_s: duration,
    state: live_status === 'is_upcoming' ? 'later' : live_status === 'is_live' ? 'live' : 'there',
    chapters: chapters
      .flatMap((each) => (each === null ? [] : [{ startS: each.start_time, title: each.title }]))
      .slice(0, maxChapters),
    captions: [...tracksOf(read.data.subtitles, false), ...tracksOf(read.data.automatic_captions, true)],
  };
}

/** Without machine-translated tracks. */
function tracksOf(byLanguage: z.infer<typeof captions>, automatic: boolean): CaptionTrack[] {
  return Object.entries(byLanguage)
    .slice(0, maxLanguages)
    .flatMap(([lang, forms]) => {
      const usable = forms
        // Excludes playlists of fragments, and chat.
        .filter((form) => (form.url !== null || form.data !== null) && !form.protocol.startsWith('m3u8'))
        .slice(0, maxForms);
      const isTranslated =
        automatic && usable.some(({ url }) => url !== null && new URL(url).searchParams.has('tlang'));
      if (usable.length === 0 || lang === 'live_chat' || isTranslated) return [];
      const kept = usable.map(({ ext, url, data }) => ({ ext, url: data === null ? url : null, data }));
      return [{ lang: lang.slice(0, 40), automatic, forms: kept }];
    });
}

function entriesOf(entries: readonly unknown[], depth: number): VideoEntry[] {
  return entries.flatMap((value): VideoEntry[] => {
    const read = entry.safeParse(value);
    if (!read.success) return [];
    const { _type, ie_key } = read.data;
    if (_type === 'playlist' || _type === 'multi_video') {
      const inner = list.safeParse(value);
      return inner.success && depth < maxDepth ? entriesOf(inner.data.entries, depth + 1) : [];
    }
    // For a resolved video `url` is its file.
    const url = read.data.webpage_url ?? read.data.url;
    if (url === null) return [];
    const isList = ie_key !== null && /(?:Tab|Playlist|Channel|User|Album)$/.test(ie_key);
    return [{ url, title: read.data.title, published_at: dateOf(read.data), isList }];
  });
}

function dateOf({ timestamp, upload_date }: z.infer<typeof dated>): string | null {
  const ms = timestamp === null ? Number.NaN : timestamp * 1000;
  if (Number.isFinite(ms) && Math.abs(ms) <= 8.64e15) return new Date(ms).toISOString();
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(upload_date ?? '') ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00.000Z`);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

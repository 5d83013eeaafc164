/** Recording, transcripts and chapters of a podcast episode, from RSS, Atom, JSON Feed and their namespaces. */
import type { PublishedTranscript } from '../../domain/watch-config.ts';
import { readClock } from '../transcript/cue.ts';
import { isRecording } from '../web/content-types.ts';
import { itemUrl, oneLine } from './feed.ts';

/** `url` is absolute; `type` '' if missing. */
export interface ListedTranscript extends PublishedTranscript {
  lang: string | null;
}

export interface Episode {
  /** Address of the recording: absolute, http or https. */
  url: string;
  title: string | null;
  /** `guid` of RSS, `id` of Atom and JSON Feed. */
  guid: string | null;
  published_at: string | null;
  content: string | null;
  link: string | null;
  author: string | null;
  duration_s: number | null;
  lang: string | null;
  transcripts: ListedTranscript[];
  /** Address of `podcast:chapters`, a JSON document. */
  chapters_url: string | null;
}

type Attributes = Readonly<Record<string, string | undefined>>;
/** Base addresses for relative ones. The first valid one counts. */
export type Bases = readonly (string | null)[];

const maxTranscripts = 10;
const maxEnclosures = 10;
const languageTag = /^[a-z]{2,8}(?:-[a-z\d]{1,8}){0,5}$/i;

export class EpisodeParts {
  readonly #enclosures: { url: string; type: string; base: string | null }[] = [];
  readonly #transcripts: { url: string; type: string; lang: string | null; base: string | null }[] = [];
  #chapters: { url: string; base: string | null } | null = null;
  author: string | null = null;
  duration_s: number | null = null;

  enclosure(url: string | undefined, type: string | undefined, base: string | null): void {
    if (url !== undefined && this.#enclosures.length < maxEnclosures) {
      this.#enclosures.push({ url, type: plainType(type), base });
    }
  }

  transcript({ url, type, language }: Attributes, base: string | null): void {
    if (url === undefined || this.#transcripts.length >= maxTranscripts) return;
    this.#transcripts.push({ url, type: plainType(type), lang: tagOf(language), base });
  }

  chapters({ url }: Attributes, base: string | null): void {
    if (url !== undefined) this.#chapters ??= { url, base };
  }

  /** `1:02:03` or `3723`. */
  duration(text: string): void {
    this.duration_s ??= readClock(text);
  }

  by(text: string): void {
    this.author ??= oneLine(text);
  }

  file(bases: Bases): string | null {
    return resolved(this.#enclosures, bases)[0]?.url ?? null;
  }

  build(bases: Bases): Pick<Episode, 'url' | 'author' | 'duration_s' | 'transcripts' | 'chapters_url'> | null {
    const { url } = resolved(this.#enclosures, bases).find((each) => isRecording(each.type, new URL(each.url))) ?? {};
    if (url === undefined) return null;
    return {
      url,
      author: this.author,
      duration_s: this.duration_s,
      transcripts: resolved(this.#transcripts, bases),
      chapters_url: this.#chapters && itemUrl(this.#chapters.url, [this.#chapters.base, ...bases]),
    };
  }
}

/** Makes addresses absolute. Drops links without an address. */
function resolved<Link extends { url: string; base: string | null }>(links: readonly Link[], bases: Bases) {
  return links.flatMap((link) => {
    const { base, ...rest } = link;
    const url = itemUrl(link.url, [base, ...bases]);
    return url === null ? [] : [{ ...rest, url }];
  });
}

export function tagOf(text: string | undefined): string | null {
  const tag = text?.trim() ?? '';
  return languageTag.test(tag) ? tag : null;
}

function plainType(type: string | undefined): string {
  return (type ?? '').split(';', 1)[0].trim().toLowerCase().slice(0, 100);
}

/** Chooses captions: manual before automatic ones, and for both, a listed language before any other. */
import type { CaptionForm, CaptionTrack } from './video-info.ts';

export interface CaptionWishes {
  langs: readonly string[];
  allowAutomatic: boolean;
}

export interface ChosenCaptions {
  lang: string;
  automatic: boolean;
  form: CaptionForm;
}

/** Best first. '' is unknown and may be one of them. */
const readable = ['vtt', 'srt', ''];

/** Null without usable captions. `own`: the video's language, if known. */
export function chooseCaptions(
  tracks: readonly CaptionTrack[],
  own: string | null,
  { langs, allowAutomatic }: CaptionWishes,
): ChosenCaptions | null {
  const usable = tracks.flatMap((track) => {
    const form = bestForm(track.forms);
    return form === null || (track.automatic && !allowAutomatic) ? [] : [{ ...track, form }];
  });
  const manual = usable.filter((track) => !track.automatic);
  const automatic = usable.filter((track) => track.automatic);
  const anyOf = (some: typeof usable) => inLanguages(some, own === null ? langs : [...langs, own]) ?? original(some);
  const chosen = inLanguages(manual, langs) ?? inLanguages(automatic, langs) ?? anyOf(manual) ?? anyOf(automatic);
  return chosen === undefined ? null : { ...chosen, lang: tagOf(chosen.lang) };
}

/** An equal tag precedes one with the same prefix: `en` before `en-GB`. */
function inLanguages<Track extends { lang: string }>(tracks: readonly Track[], langs: readonly string[]) {
  for (const lang of langs.map(normalized)) {
    const same = tracks.find((track) => normalized(tagOf(track.lang)) === lang);
    const near = tracks.find((track) => normalized(track.lang).startsWith(`${lang}-`));
    if (same !== undefined || near !== undefined) return same ?? near;
  }
  return undefined;
}

/** The language that the site marks as spoken. */
function original<Track extends { lang: string }>(tracks: readonly Track[]): Track | undefined {
  return tracks.find(({ lang }) => lang.endsWith('-orig')) ?? tracks[0];
}

function bestForm(forms: readonly CaptionForm[]): CaptionForm | null {
  for (const ext of readable) {
    const form = forms.find((each) => each.ext === ext && !/\.m3u8(?:[?#]|$)/i.test(each.url ?? ''));
    if (form !== undefined) return form;
  }
  return null;
}

/** Removes additions and numbers of sites: `en-orig`, `en-nP7-2PuUl7o`. */
function tagOf(lang: string): string {
  return (
    /^[a-z]{2,3}(?:[-_](?!orig$)[a-z]{4})?(?:[-_](?:[a-z]{2}|\d{3}))?(?=$|-orig$|-[\w-]{11}$)/i
      .exec(lang)?.[0]
      .replaceAll('_', '-') ?? lang
  );
}

function normalized(lang: string): string {
  return lang.toLowerCase().replaceAll('_', '-');
}

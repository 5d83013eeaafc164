/**
 * Which of a video's captions are read: the first that a step of `fetch.video_caption_order` finds, step by step. Within a step the
 * order of the languages decides, then, where any language will do, the video's own.
 */
import type { CaptionForm, CaptionTrack } from './video-info.ts';

/**
 * `manual`: written by people, in a language of the list. `automatic`: made by a machine of what is said, in a language of the list.
 * `any_manual`, `any_automatic`: the same in any language. `translated`: translated by a machine into a language of the list.
 */
export const captionSteps = ['manual', 'automatic', 'any_manual', 'any_automatic', 'translated'] as const;
export type CaptionStep = (typeof captionSteps)[number];

export interface CaptionWishes {
  /** Language tags, best first. */
  langs: readonly string[];
  order: readonly CaptionStep[];
  /** Whether captions that were made by a machine may be taken at all. */
  allowAutomatic: boolean;
}

export interface ChosenCaptions {
  /** A language tag. */
  lang: string;
  automatic: boolean;
  form: CaptionForm;
}

/** Kinds of captions files that can be read, best first; an unknown one may be one of them. */
const readable = ['vtt', 'srt', ''];

/** Null where no step finds any. `own` is the language of the video, if it says. */
export function chooseCaptions(
  tracks: readonly CaptionTrack[],
  own: string | null,
  { langs, order, allowAutomatic }: CaptionWishes,
): ChosenCaptions | null {
  const usable = tracks.flatMap((track) => {
    const form = bestForm(track.forms);
    return form === null || (track.automatic && !allowAutomatic) ? [] : [{ ...track, form }];
  });
  for (const step of order) {
    const candidates = usable.filter(({ automatic, translated }) => kindOf(automatic, translated) === kinds[step]);
    const wanted = step.startsWith('any_') ? [...langs, ...(own === null ? [] : [own])] : langs;
    const chosen = inLanguages(candidates, wanted) ?? (step.startsWith('any_') ? original(candidates) : undefined);
    if (chosen !== undefined) return { lang: tagOf(chosen.lang), automatic: chosen.automatic, form: chosen.form };
  }
  return null;
}

type Kind = 'manual' | 'automatic' | 'translated';

const kinds: Record<CaptionStep, Kind> = {
  manual: 'manual',
  automatic: 'automatic',
  any_manual: 'manual',
  any_automatic: 'automatic',
  translated: 'translated',
};

function kindOf(automatic: boolean, translated: boolean): Kind {
  if (!automatic) return 'manual';
  return translated ? 'translated' : 'automatic';
}

/** A tag that is the same goes before one that begins the same: `en` is `en` before it is `en-GB`. */
function inLanguages<Track extends { lang: string }>(tracks: readonly Track[], langs: readonly string[]) {
  for (const lang of langs.map(normalized)) {
    const same = tracks.find((track) => normalized(tagOf(track.lang)) === lang);
    const near = tracks.find((track) => normalized(track.lang).startsWith(`${lang}-`));
    if (same !== undefined || near !== undefined) return same ?? near;
  }
  return undefined;
}

/** Of several, the one that the site marks as what is spoken. */
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

/** Without the mark of what is spoken and the number that some sites add: `en-orig`, `en-nP7-2PuUl7o`. */
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

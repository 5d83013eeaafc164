/** Chooses captions by the steps of `fetch.video_caption_order`; within a step by the order of languages, then the video's own. */
import type { CaptionForm, CaptionTrack } from './video-info.ts';

/**
 * `manual`: by people, in a listed language. `automatic`: by speech recognition, in a listed language. `any_manual`, `any_automatic`: in
 * any language. `translated`: by machine into a listed language.
 */
export const captionSteps = ['manual', 'automatic', 'any_manual', 'any_automatic', 'translated'] as const;
export type CaptionStep = (typeof captionSteps)[number];

export interface CaptionWishes {
  /** Best first. */
  langs: readonly string[];
  order: readonly CaptionStep[];
  allowAutomatic: boolean;
}

export interface ChosenCaptions {
  lang: string;
  automatic: boolean;
  form: CaptionForm;
}

/** Best first; '' is unknown and may be one of them. */
const readable = ['vtt', 'srt', ''];

/** Null if no step matches. `own`: the video's language, if known. */
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

/** Without marks and numbers of sites: `en-orig`, `en-nP7-2PuUl7o`. */
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

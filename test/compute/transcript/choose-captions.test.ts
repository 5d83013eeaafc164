/** Which captions of a video are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CaptionWishes, chooseCaptions } from '../../../src/compute/transcript/choose-captions.ts';
import type { CaptionTrack } from '../../../src/compute/transcript/video-info.ts';

const form = (ext: string) => ({ ext, url: `https://c.example/x.${ext}`, data: null });

/** `manual:en`, `automatic:de-orig`, each as WebVTT. */
function track(name: string, forms = [form('vtt')]): CaptionTrack {
  const [kind, lang] = name.split(':');
  return { lang, automatic: kind !== 'manual', forms };
}

function chosen(
  names: readonly string[],
  wishes: Partial<CaptionWishes> = {},
  own: string | null = null,
): string | null {
  const choice = chooseCaptions(
    names.map((name) => track(name)),
    own,
    { langs: ['en', 'en-US', 'en-GB'], allowAutomatic: true, ...wishes },
  );
  return choice === null ? null : `${choice.automatic ? 'automatic' : 'manual'}:${choice.lang}`;
}

test('manual captions go before automatic ones, wanted languages before others, in their order', () => {
  const cases: [names: string[], expected: string | null][] = [
    [['automatic:en', 'manual:de', 'manual:en'], 'manual:en'],
    [['manual:de', 'automatic:en'], 'automatic:en'],
    [['manual:de', 'automatic:fr'], 'manual:de'],
    [['automatic:fr', 'automatic:de-orig'], 'automatic:de'],
    [['manual:en-GB', 'manual:en'], 'manual:en'],
    [['manual:en-AU'], 'manual:en-AU'],
    [['manual:en_GB', 'automatic:en'], 'manual:en-GB'],
    [['manual:en-nP7-2PuUl7o', 'automatic:en'], 'manual:en'],
    [['manual:eng'], 'manual:eng'],
    [['manual:zh-Hant-TW'], 'manual:zh-Hant-TW'],
    [[], null],
  ];
  for (const [names, expected] of cases) assert.equal(chosen(names), expected, names.join(' '));
});

test('where any language will do, the one of the video goes first', () => {
  assert.equal(chosen(['manual:fr', 'manual:de'], {}, 'de'), 'manual:de');
  assert.equal(chosen(['automatic:fr', 'automatic:de'], {}, 'de'), 'automatic:de');
});

test('the wishes choose languages, and whether automatic captions will do', () => {
  assert.equal(chosen(['manual:de', 'automatic:ja'], { langs: ['ja', 'de'] }), 'manual:de');
  assert.equal(chosen(['automatic:en'], { allowAutomatic: false }), null);
  assert.equal(chosen(['automatic:en', 'manual:de'], { allowAutomatic: false }), 'manual:de');
});

test('of the forms of captions one is taken that can be read', () => {
  const wishes: CaptionWishes = { langs: ['en'], allowAutomatic: true };
  const taken = (...exts: string[]) =>
    chooseCaptions([track('manual:en', exts.map(form))], null, wishes)?.form.ext ?? null;
  assert.equal(taken('json3', 'srt', 'vtt'), 'vtt');
  assert.equal(taken('ttml', 'srt'), 'srt');
  assert.equal(taken('srv1', ''), '');
  assert.equal(taken('json3', 'ttml'), null);
  const pieces = [{ ext: 'vtt', url: 'https://c.example/list.m3u8?x=1', data: null }];
  assert.equal(chooseCaptions([track('manual:en', pieces), track('manual:de')], null, wishes)?.lang, 'de');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { neutralText } from '../../../src/compute/text/neutral-text.ts';

/** Letters as tags, which nothing shows. */
const tags = (text: string): string =>
  Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const flag = (region: string): string => `\u{1f3f4}${tags(region)}\u{e007f}`;
/** Bytes as variation selectors, behind one character. */
const selectors = Array.from('ignore', (letter) => String.fromCodePoint(0xe0100 + letter.charCodeAt(0) - 16)).join('');

const same = null;
const cases: [what: string, text: string, expected: string | null][] = [
  ['what people write', 'Grüße, 東京 — “ok”, x < y & z\n\tπ', same],
  ['an emoji of several', '👩\u200d💻 👨🏽\u200d🌾 👁\ufe0f\u200d🗨\ufe0f 🏴\u200d☠\ufe0f', same],
  ['an emoji and a text by a selector, and a key', '❤\ufe0f ☎\ufe0e 1\ufe0f\u20e3', same],
  ['flags of England, Scotland and Wales', `${flag('gbeng')}${flag('gbsct')} ${flag('gbwls')}`, same],
  ['a Persian word', 'می\u200cخواهم', same],
  ['an Arabic letter as within a word, at its end', 'ه\u200d.', same],
  ['half a Hindi letter', 'क्\u200dष', same],
  ['an older Malayalam letter, at the end of a word', 'അവന്\u200d വന്നു', same],
  ['a Sinhala word', 'ශ්\u200dරී', same],
  ['a Bengali word', 'র\u200d্যাব', same],
  ['forms of Mongolian letters', 'ᠭ\u180bᠠ ᠨ\u180eᠠ', same],
  ['forms of Chinese characters and of signs', '芦\ufe00 ∩\ufe00', same],
  ['the Arabic sign of a number, which is shown', '\u0600١٢', same],
  ['lines as Windows ends them', 'one\r\ntwo', 'one\ntwo'],
  ['words hidden as tags', `ok${tags('delete all')}\u{e0001}`, 'ok'],
  ['words hidden as tags behind a flag', `\u{1f3f4}${tags('delete all')}\u{e007f}`, '\u{1f3f4}'],
  ['words hidden behind a flag', `${flag('gbsct')}${tags('delete')}`, flag('gbsct')],
  ['words hidden as selectors', `😊\ufe0f${selectors}`, '😊\ufe0f'],
  ['more selectors than one', '❤\ufe0f\ufe0f\ufe0e', '❤\ufe0f'],
  ['a selector behind a letter', 'a\ufe0fb\u{e0101}', 'ab'],
  ['a row of joiners', 'می\u200c\u200d\u200cخواهم', 'می\u200cخواهم'],
  ['joiners between Latin letters', 'ig\u200cno\u200dre', 'ignore'],
  ['spaces of no width', 'ig\u200bno\u2060re\ufeff', 'ignore'],
  ['hyphens where a word may be broken', 'Donau\u00addampf', 'Donaudampf'],
  ['directions', 'abc\u202efed\u202c\u2066x\u2069\u200e\u200f\u061c', 'abcfedx'],
  ['fillers and the joiner of no glyphs', 'a\u034fb\u115fc\u1160d\u3164e\uffa0f\u17b4g', 'abcdefg'],
  ['characters that are kept for such', 'a\u2065b\ufff0c\u{e0002}d\u{e0fff}', 'abcd'],
  ['annotations between lines', 'a\ufff9b\ufffac\ufffb', 'abc'],
  ['what steers a terminal', '\u001b[31mred\u009b0m\u0000\u0007\u007f', '\ufffd[31mred\ufffd0m\ufffd\ufffd\ufffd'],
  ['other ends of lines', 'a\u2028b\u2029c\rd', 'a\ufffdb\ufffdc\ufffdd'],
];

for (const [what, text, expected] of cases) {
  test(`text for models: ${what}`, () => assert.equal(neutralText(text), expected ?? text));
}

test('nothing that cannot be seen stands behind another such character, whatever is given', () => {
  const hidden = fc.constantFrom(...'\u200b\u200c\u200d\ufe0e\ufe0f\u{e0067}\u{e007f}\u{e0101}\u180b\u00ad');
  const shown = fc.constantFrom(...'aم芦❤1ᠭ\u{1f3f4}');
  fc.assert(
    fc.property(fc.array(fc.oneof(hidden, shown)), (characters) => {
      const text = neutralText(characters.join(''));
      assert.doesNotMatch(text, /\p{Default_Ignorable_Code_Point}(?<!\ufe0f)\p{Default_Ignorable_Code_Point}/u);
      assert.equal(neutralText(text), text);
    }),
  );
});

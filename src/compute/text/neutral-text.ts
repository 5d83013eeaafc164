/** Text for a language model: removes invisible characters, which may hide instructions; controls become U+FFFD. */

/** Dropped: default ignorables, annotations, CR before LF. Replaced: separators, controls except tab and line feed. */
const invisible = String.raw`\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]|\r(?=\n)`;
const steering = String.raw`[\p{Zl}\p{Zp}]|(?![\t\n])\p{Cc}`;

/** Scripts whose letters change shape before a joiner or non-joiner. */
const joiningScripts =
  'Adlm Arab Beng Deva Gujr Guru Khmr Knda Mand Mlym Mong Mymr Nkoo Orya Rohg Sinh Syrc Taml Telu Tibt'
    .split(' ')
    .map((script) => String.raw`\p{Script_Extensions=${script}}`)
    .join('');

/** England, Scotland and Wales as tag characters after a black flag. */
const region = String.raw`\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`;
const flag = String.raw`\u{1f3f4}${region}`;

/**
 * Invisible characters that affect the display, right after the character they change. Only one of a kind, as a
 * sequence could be a hidden message. Source: Unicode 16, sections 23.2 and 23.4; UTS 51.
 */
const needed = [
  // Emoji sequences and variants; the flags of England, Scotland and Wales.
  String.raw`(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Emoji}\ufe0f|${flag})\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=\p{Emoji})[\ufe0e\ufe0f]`,
  String.raw`(?<=\u{1f3f4})${region}`,
  String.raw`(?<=[${joiningScripts}])(?<=[\p{L}\p{M}])(?<!\p{Default_Ignorable_Code_Point})[\u200c\u200d]`,
  // Variants of Mongolian letters, Chinese characters and symbols.
  String.raw`(?<=\p{Script=Mong})(?<=\p{L})[\u180b-\u180f]`,
  String.raw`(?<=[\p{Script=Han}\p{Script=Mymr}\p{Script=Phag}\p{Sm}])[\ufe00-\ufe02]`,
].join('|');

const pattern = new RegExp(`(${needed})|(${invisible})|${steering}`, 'gu');

export function neutralText(text: string): string {
  return text.replace(pattern, (_, kept?: string, gone?: string) => kept ?? (gone === undefined ? '\ufffd' : ''));
}

export function neutralJson(value: unknown): unknown {
  if (typeof value === 'string') return neutralText(value);
  if (Array.isArray(value)) return value.map(neutralJson);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [neutralText(key), neutralJson(inner)]));
}

/** `<` and `>` become JSON escapes, so no tag can begin or end in the line. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(neutralJson(value)).replace(/[<>]/g, (sign) => (sign === '<' ? '\\u003c' : '\\u003e'));
}

const opening = '<untrusted_data source="reading history">';
const closing = '</untrusted_data>';

/** An envelope with one JSON value per line. No text can close it or open another. */
export function enveloped(values: readonly unknown[]): string {
  return [opening, ...values.map(jsonLine), closing].join('\n');
}

/** Percent-decodes a text. Returns `otherwise` for invalid UTF-8 or a bare percent sign. */
export function unescaped(text: string, otherwise = text): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return otherwise;
  }
}

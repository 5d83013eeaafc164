/** Percent-decoded; `otherwise` for what is not UTF-8 or has a bare percent sign. */
export function unescaped(text: string, otherwise = text): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return otherwise;
  }
}

/** Splits texts into requests that a provider accepts. Without its tokenizer, token counts are estimated from above. */

/** English has four bytes per token, other European languages three to four, Chinese and Japanese three per character. */
const bytesPerToken = 3;

export interface BatchLimits {
  maxTexts: number;
  maxTokens: number;
}

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Consecutive batches within both limits; a text above `maxTokens` goes alone. */
export function batchTexts(texts: readonly string[], { maxTexts, maxTokens }: BatchLimits): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let tokens = 0;
  for (const text of texts) {
    const more = estimateTokens(text);
    if (batch.length > 0 && (batch.length >= maxTexts || tokens + more > maxTokens)) {
      batches.push(batch);
      batch = [];
      tokens = 0;
    }
    batch.push(text);
    tokens += more;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** The beginning of a text with at most `maxTokens` of `perToken` bytes each, never half a character. */
export function cutToTokens(text: string, maxTokens: number, perToken = bytesPerToken): string {
  const maxBytes = maxTokens * perToken;
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

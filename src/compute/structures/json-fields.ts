/** JSON that anybody may have written, looked into field by field. */

/** Null for what is no JSON. A byte order mark before it is passed over. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The only reason is that it is no JSON.
    return null;
  }
}

/** A field of an object's own; undefined for what has none of the name. */
export function ownField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

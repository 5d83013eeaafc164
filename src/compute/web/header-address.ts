/** Addresses in the headers of answers, as servers write them there. */

/**
 * An address from a header in ASCII. Node gives a header's bytes as Latin-1; those beyond ASCII, UTF-8 or whatever the server's paths are
 * written in, are escaped as they came, so that the server gets them back.
 */
export function addressInHeader(value: string): string {
  return value.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Texts that others wrote: always text nodes, isolated in their direction, and addresses that lead only to the web. */
import type { ComponentChildren } from 'preact';

interface Span {
  start: number;
  end: number;
}

/** An address that may be a link; null for anything but http and https. */
export function safeUrl(address: string): string | null {
  try {
    const { protocol, href } = new URL(address);
    return protocol === 'http:' || protocol === 'https:' ? href : null;
  } catch {
    return null; // no address at all
  }
}

/** A link out of the library; plain text where the address is none of the web. */
export function Outside({
  href,
  children,
  ...rest
}: {
  href: string | null;
  class?: string;
  children: ComponentChildren;
  id?: string;
}) {
  if (href === null) return <span {...rest}>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" {...rest}>
      {children}
    </a>
  );
}

/** A slice of a text with spans of it marked; offsets are of the whole text. */
export function Marked({
  text,
  spans,
  from = 0,
  to = text.length,
}: {
  text: string;
  spans: readonly Span[];
  from?: number;
  to?: number;
}) {
  const parts: ComponentChildren[] = [];
  let at = from;
  for (const { start, end } of spans) {
    const [first, last] = [Math.max(start, at), Math.min(end, to)];
    if (first >= last) continue;
    if (first > at) parts.push(text.slice(at, first));
    parts.push(<mark key={first}>{text.slice(first, last)}</mark>);
    at = last;
  }
  if (at < to) parts.push(text.slice(at, to));
  return <bdi>{parts}</bdi>;
}

/** What a page is called: its title, or its address. */
export const nameOf = ({ title, canonical_url }: { title: string | null; canonical_url: string }): string =>
  title?.trim() || shortUrl(canonical_url);

export const shortUrl = (address: string): string => address.replace(/^https?:\/\/(?:www\.)?/, '').replace(/\/$/, '');

const hues = 12;

/** One of twelve hues for a name, always the same: sites and topics are told apart by it. */
export function hueOf(name: string): number {
  let hash = 2166136261;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619);
  return (hash >>> 0) % hues;
}

/** A site's first letter on its colour: no icon is ever loaded from elsewhere. */
export function SiteMark({ domain }: { domain: string }) {
  const letter = domain
    .replace(/^www\./, '')
    .charAt(0)
    .toUpperCase();
  return (
    <bdi class={`site-mark hue-${hueOf(domain.replace(/^www\./, ''))}`} aria-hidden="true">
      {letter}
    </bdi>
  );
}

/** An address as a person types it: of one without a scheme https is meant. */
export const typedAddress = (text: string): string =>
  /^[a-z][a-z\d+.-]*:\/\//i.test(text.trim()) ? text.trim() : `https://${text.trim()}`;

/** A text of others within a sentence: what turns the direction of writing in it turns nothing around it. */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

/** Foreign text: always text nodes with isolated direction, and only web links. */
import type { ComponentChildren } from 'preact';

interface Span {
  start: number;
  end: number;
}

/** Null for anything but http and https. */
export function safeUrl(address: string): string | null {
  try {
    const { protocol, href } = new URL(address);
    return protocol === 'http:' || protocol === 'https:' ? href : null;
  } catch {
    return null; // not an address
  }
}

/** An external link; plain text for other schemes. */
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

interface MarkedProps {
  text: string;
  spans: readonly Span[];
  from?: number;
  to?: number;
}

/** A slice of a text with marked spans; offsets are of the whole text. */
export function Marked({ text, spans, from = 0, to = text.length }: MarkedProps) {
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

/** A page's title, or its address. */
export const nameOf = ({ title, canonical_url }: { title: string | null; canonical_url: string }): string =>
  title?.trim() || shortUrl(canonical_url);

export const shortUrl = (address: string): string => address.replace(/^https?:\/\/(?:www\.)?/, '').replace(/\/$/, '');

const hues = 12;

/** One of twelve stable hues for a site or topic. */
export function hueOf(name: string): number {
  let hash = 2166136261;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619);
  return (hash >>> 0) % hues;
}

/** A site's first letter on its colour: no icons are loaded from elsewhere. */
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

/** A typed address; https by default. */
export const typedAddress = (text: string): string =>
  /^[a-z][a-z\d+.-]*:\/\//i.test(text.trim()) ? text.trim() : `https://${text.trim()}`;

/** The web addresses in a text, without the punctuation of its sentences. A bracket stays if the address opens it. */
export function addressesIn(text: string): Span[] {
  const found = Array.from(
    text.matchAll(/https?:\/\/[^\s<>"`、。，；：！？「」『』（）【】《》]+/gi),
    ({ 0: address, index: start }) => {
      let unopened = address.split(')').length - address.split('(').length;
      let end = address.length;
      while (/[.,;:!?'’”»)\]}]/.test(address.charAt(end - 1))) {
        if (address[end - 1] === ')' && unopened-- <= 0) break;
        end--;
      }
      return { start, end: start + end };
    },
  );
  return found.filter(({ start, end }) => safeUrl(text.slice(start, end)) !== null);
}

/** Foreign text with isolated direction, for sentences. */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

/** Names of meta elements to read, most deliberate first. No others are read: they may contain tokens or user names. */

import names from '../../../models/meta-names.json' with { type: 'json' };
import type { DomNode } from './dom-tree.ts';

export const metaNames: Readonly<Record<keyof typeof names, readonly string[]>> = names;

const read = new Set(Object.values(names).flat());

/** Microdata elements belong to what encloses them. */
export function isReadMeta(meta: Pick<DomNode, 'getAttribute'>): boolean {
  const name = meta.getAttribute('property') ?? meta.getAttribute('name');
  if (name === null)
    return /^(?:author|name|datePublished|headline|image|description)$/.test(meta.getAttribute('itemprop') ?? '');
  return read.has(name.trim().toLowerCase());
}

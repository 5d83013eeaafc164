/** How pages stand in lists of the command line. */
import type { PageDetails } from '../domain/page.ts';
import { plain } from './terminal.ts';
import { fitted } from './text-width.ts';

/** Longest title in a line that has its address, too, in columns. */
const titleColumns = 40;

/** A title and an address, or the address where there is no title. */
export function titled(title: string | null, address: string): string {
  const url = plain(address, 2000);
  return title === null ? url : `${fitted(plain(title, 2000), titleColumns)} · ${url}`;
}

/** Who wrote a page, where and when, as far as that is known; '' for nothing. */
export function byline({ author, site_name, published_at }: Partial<PageDetails>): string {
  const facts = [author, site_name, published_at == null ? null : day(published_at)];
  return plain([...new Set(facts.filter((fact) => fact != null))].join(', '), 300);
}

/** Of an ISO 8601 time. */
export const day = (at: string): string => at.slice(0, 10);

export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;

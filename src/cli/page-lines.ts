import type { PageDetails } from '../domain/page.ts';
import { plain } from './terminal.ts';
import { fitted } from './text-width.ts';

/** Maximum title width on a line with an address. */
const titleColumns = 40;

export function titled(title: string | null, address: string): string {
  const url = plain(address, 2000);
  return title === null ? url : `${fitted(plain(title, 2000), titleColumns)} · ${url}`;
}

export function byline({ author, site_name, published_at }: Partial<PageDetails>): string {
  const facts = [author, site_name, published_at == null ? null : day(published_at)];
  return plain([...new Set(facts.filter((fact) => fact != null))].join(', '), 300);
}

/** Of an ISO 8601 time. */
export const day = (at: string): string => at.slice(0, 10);

export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;

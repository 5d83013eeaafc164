/** Demo pages, written for readback. Their hosts are reserved (RFC 2606), so nothing is ever fetched from them. */
import { dayMs } from './durations.ts';
import type { IngestPageRequest } from './page.ts';

export const demoDomain = 'demo.example';

/** In `models/demo.json`. */
export interface DemoPage {
  url: string;
  title: string;
  /** Elements of the article. */
  html: string[];
  /** Its visits, in days before today. */
  days_ago: number[];
  metadata: Record<string, unknown>;
}

/** A submission for each visit. */
export function demoSubmissions({ url, days_ago, html, ...facts }: DemoPage, now: number): IngestPageRequest[] {
  const page = { ...facts, url, source: 'demo', body_html: html.join('\n'), body_is_article: true };
  return days_ago.map((days) => ({ ...page, fetched_at: new Date(now - days * dayMs).toISOString() }));
}

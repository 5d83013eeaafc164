/** Shared parts of the pages: localized texts, times, passages. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PageResult } from '../../../src/domain/search.ts';
import type { CaptureOutcome } from '../messages.ts';
import { linkToPassage } from '../omnibox.ts';
import type { SendState } from '../queue/database.ts';
import type { ExclusionRule } from '../rules/decide.ts';

/** A text of `_locales`; a missing one shows its name. */
export function t(name: string, ...values: (string | number)[]): string {
  return chrome.i18n.getMessage(name, values.map(String)) || name;
}

const language = (): string => chrome.i18n.getUILanguage();

export function dateOf(time: number | string): string {
  return new Intl.DateTimeFormat(language(), { dateStyle: 'medium' }).format(new Date(time));
}

export function timeOf(time: number | string): string {
  return new Intl.DateTimeFormat(language(), { dateStyle: 'short', timeStyle: 'short' }).format(new Date(time));
}

export const numberOf = (value: number): string => new Intl.NumberFormat(language()).format(value);

/** Sets the document's language and title. */
export function describeDocument(title: string): void {
  document.documentElement.lang = language();
  document.title = title;
}

/** The value of `load`, repeated when `again` changes; undefined at first. */
export function useLoaded<Value>(load: () => Promise<Value>, again: readonly unknown[]): Value | undefined {
  const [value, setValue] = useState<Value>();
  useEffect(() => {
    let current = true;
    load().then(
      (loaded) => current && setValue(loaded),
      (error: unknown) => console.warn('could not be loaded', error),
    );
    return () => {
      current = false;
    };
  }, again);
  return value;
}

/** A counter that increases every `everyMs` while visible. */
export function useTicks(everyMs: number): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && setTick((n) => n + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return tick;
}

/** Why a page is not captured. */
export function ruleText(rule: ExclusionRule): string {
  switch (rule.rule) {
    case 'blacklist':
      return t('rule_blacklist', rule.pattern);
    case 'site':
      return t('rule_site', rule.site);
    case 'kind':
      return t('rule_kind', t(`kind_${rule.kind}`));
    case 'paused':
      return rule.until === 'forever' ? t('rule_paused') : t('rule_paused_until', timeOf(rule.until));
    default:
      return t(`rule_${rule.rule}`);
  }
}

export function outcomeText(outcome: CaptureOutcome): string {
  return outcome.outcome === 'excluded' ? ruleText(outcome.rule) : t(`outcome_${outcome.outcome}`);
}

/** Why the service refused a page. Of schema messages such as `title: Too big: …`, users see only the field. */
export function refusalText(reason: string | null): string {
  const field = /^(?:body\.)?(?:pages\.\d+\.)?([a-z_]+)[\w.…]*: /.exec(reason ?? '')?.[1];
  if (field === undefined) return reason ?? '';
  return t(['url', 'title', 'body_html'].includes(field) ? `refused_${field}` : 'refused_other');
}

export function problemText({ problem }: SendState): string | null {
  return problem === null ? null : t(`problem_${problem.kind}`);
}

function* highlighted(text: string, from: number, highlights: readonly { start: number; end: number }[]) {
  let at = 0;
  for (const { start, end } of highlights) {
    const [first, last] = [Math.max(start - from, at), Math.min(end - from, text.length)];
    if (first >= last) continue;
    yield text.slice(at, first);
    yield <mark key={first}>{text.slice(first, last)}</mark>;
    at = last;
  }
  yield text.slice(at);
}

/** Results with snippets; a click opens the page there. */
export function Results({ results, label }: { results: readonly PageResult[]; label: string }) {
  return (
    <ol class="results" aria-label={label}>
      {results.map((result) => {
        const chunk = result.chunks.at(0);
        return (
          <li key={result.page_id}>
            <a href={linkToPassage(result)} target="_blank" rel="noreferrer">
              <span class="title">
                <bdi>{result.title ?? result.canonical_url}</bdi>
              </span>
              <span class="site">
                <bdi>{result.domain}</bdi>
              </span>
              {chunk && chunk.snippet.text !== '' && (
                <span class="passage" dir="auto">
                  {[...highlighted(chunk.snippet.text, chunk.snippet.start, chunk.highlights)]}
                </span>
              )}
            </a>
          </li>
        );
      })}
    </ol>
  );
}

export function Notice({ kind, children }: { kind: 'good' | 'warn' | 'bad' | 'quiet'; children: ComponentChildren }) {
  return (
    <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </p>
  );
}

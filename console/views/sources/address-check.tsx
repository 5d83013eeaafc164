/** Facts about an address while it is typed: stored, blocked, a feed, or why it cannot be followed. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PageListResponse } from '../../../src/domain/page.ts';
import type { WatchCheckResponse, WatchKind } from '../../../src/domain/watch.ts';
import { call, get } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { linkTo } from '../../app/router.ts';
import { ago, many } from '../../ui/format.ts';
import { ActButton } from '../../ui/parts.tsx';
import { isolated, nameOf, typedAddress } from '../../ui/text.tsx';

const restMs = 500;
/** Matches what may be a whole address, so that typing `exam` sends no request. */
const whole = /[^.\s/]\.[^.\s/]{2,}|\/\/(?:localhost|\[)/i;

/** The address when typing pauses; null if it is not one. */
function useRestingAddress(typed: string): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    const text = typedAddress(typed);
    const timer = setTimeout(() => setAddress(whole.test(text) && URL.canParse(text) ? text : null), restMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return typedAddress(typed) === address ? address : null;
}

function Told({ children }: { children: ComponentChildren }) {
  return (
    <div class="hint" role="status">
      {children}
    </div>
  );
}

/** `turn`: changes when the address may have become known. */
export function KnownAddress({ typed, turn = 0 }: { typed: string; turn?: number }) {
  const url = useRestingAddress(typed);
  const { data, reload } = useLoad((signal) => get<PageListResponse>('/v1/pages', { url }, signal), [url, turn]);
  const [page] = data?.pages ?? [];
  return (
    <Told>
      {page && (
        <p>
          You have this page: <a href={linkTo(`page/${page.page_id}`)}>{isolated(nameOf(page))}</a>, last read{' '}
          {ago(page.last_seen_at)}. Adding it counts as a visit.
        </p>
      )}
      <Blocked rule={data?.blocked_by} unblocked={reload} />
    </Told>
  );
}

function Blocked({ rule, unblocked }: { rule: PageListResponse['blocked_by']; unblocked: () => void }) {
  if (rule == null) return null;
  const unblock = async () => {
    await call('DELETE', `/v1/blacklist/${encodeURIComponent(rule.id)}`);
    unblocked();
  };
  return (
    <p>
      {rule.kind === 'domain'
        ? `The site ${isolated(rule.pattern)} is blocked.`
        : 'This page was deleted and is blocked.'}{' '}
      <ActButton class="button button-small" act={unblock}>
        Unblock
      </ActButton>
    </p>
  );
}

export function FoundFeed({ typed, kind }: { typed: string; kind: WatchKind }) {
  const url = useRestingAddress(typed);
  const check = (signal: AbortSignal) =>
    call<WatchCheckResponse>('POST', '/v1/watches/check', { body: { url, kind }, signal });
  const { data, error, loading } = useLoad(check, [url, kind]);
  const known = useLoad((signal) => get<PageListResponse>('/v1/pages', { url }, signal), [url]);
  return (
    <Told>
      <p>{url === null ? 'The feed, or a page that links to it.' : textOf(data, error, loading)}</p>
      <Blocked rule={known.data?.blocked_by} unblocked={known.reload} />
    </Told>
  );
}

function textOf(found: WatchCheckResponse | undefined, error: unknown, loading: boolean): string {
  if (loading) return 'Checking this address…';
  if (found === undefined) return error instanceof Error ? error.message : '';
  if (found.watch_id !== null) return 'You already follow this feed.';
  if (found.reason !== null) return `It can't be followed: ${isolated(found.reason)}`;
  const name = found.title === null ? 'Found' : `Found “${isolated(found.title)}”`;
  return `${name}, ${many(found.items ?? 0, 'item')}${found.feed_url === null ? '' : ', by the page at this address'}.`;
}

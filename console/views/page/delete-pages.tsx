/** Deletes pages after ten seconds in which it can be undone; deletes and blocks a site after a confirmation, and shows the progress. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { MetricsSummaryResponse } from '../../../src/domain/admin.ts';
import type { ForgetResponse } from '../../../src/domain/blacklist.ts';
import { call, epoch, get, wordsFor } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { isTyping } from '../../app/keys.tsx';
import { notify, useAttempt } from '../../app/notices.tsx';
import { linkTo } from '../../app/router.ts';
import { waitingWork } from '../../app/session.tsx';
import { many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Dialog, FormEnd } from '../../ui/parts.tsx';
import { isolated } from '../../ui/text.tsx';
import { dropKeptSearches } from '../search/use-search.ts';

interface PageToDelete {
  page_id: string;
  canonical_url: string;
}

const undoMs = 10_000;
const shownTitle = 80;

/** Deleted pages, which lists leave out. Ids are not reused. */
const deleted = signal<ReadonlySet<string>>(new Set());
export const isDeleted = (pageId: string): boolean => deleted.value.has(pageId);

/** Waiting deletions, oldest first. */
const waiting = new Set<{ send: () => Promise<void>; undo: () => void; leave: () => void }>();

function hide(pages: readonly PageToDelete[], isHidden: boolean): void {
  const ids = new Set(deleted.value);
  for (const { page_id } of pages) {
    if (isHidden) ids.add(page_id);
    else ids.delete(page_id);
  }
  deleted.value = ids;
}

/** Delete pages soon: at once if the user leaves the console. Ignores pages that are being deleted. */
export function deleteLater(title: string, given: readonly PageToDelete[]): void {
  const pages = given.filter(({ page_id }) => !isDeleted(page_id));
  if (pages.length === 0) return;
  const short = title.length <= shownTitle ? title : `${title.slice(0, shownTitle)}…`;
  const name = pages.length === 1 ? `“${isolated(short)}”` : many(pages.length, 'page');
  const leave = () => {
    clearTimeout(timer);
    waiting.delete(entry);
    dismiss();
  };
  const entry = {
    leave,
    send: () => {
      leave();
      return send(name, pages);
    },
    undo: () => {
      leave();
      hide(pages, false);
      notify(`Kept ${name}`);
    },
  };
  const dismiss = notify(`Deleting ${name}…`, 'waiting', entry.undo);
  const timer = setTimeout(entry.send, undoMs);
  waiting.add(entry);
  hide(pages, true);
}

async function send(name: string, pages: readonly PageToDelete[]): Promise<void> {
  const failed: PageToDelete[] = [];
  let reason: unknown;
  // All requests start in this turn, because the page may be closing.
  const forgetting = pages.map(async (page) => {
    try {
      await call('POST', '/v1/forget', { body: { url: page.canonical_url }, keepalive: true });
    } catch (error) {
      failed.push(page);
      reason = error;
    }
  });
  await Promise.all(forgetting);
  hide(failed, false);
  dropKeptSearches();
  epoch.value++;
  const [they, their] = pages.length === 1 ? ['it', 'its address'] : ['them', 'their addresses'];
  if (failed.length === 0) notify(`Deleted ${name}. To add ${they} again, unblock ${their} under System.`);
  else
    notify(
      `${failed.length < pages.length ? 'Some pages were' : `${name} was`} not deleted. ${wordsFor(reason)}`,
      'error',
    );
}

waitingWork.send = async () => {
  await Promise.all(Array.from(waiting, ({ send }) => send()));
};
waitingWork.drop = () => {
  for (const { leave } of waiting) leave();
};
addEventListener('pagehide', () => void waitingWork.send());
addEventListener('visibilitychange', () => {
  if (document.hidden) void waitingWork.send();
});
addEventListener('keydown', (event) => {
  const last = [...waiting].at(-1);
  if (event.key !== 'z' || event.shiftKey || event.altKey || !(event.ctrlKey || event.metaKey)) return;
  if (last === undefined || isTyping(event.target)) return;
  event.preventDefault();
  last.undo();
});

interface BlockSiteProps {
  domain: string;
  onClose: () => void;
  onDone: () => void;
}

/** `onDone` is called after `onClose` if pages were deleted. */
export function BlockSiteDialog({ domain, onClose, onDone }: BlockSiteProps) {
  const [purged, setPurged] = useState<number | null>(null);
  const { busy, said, attempt } = useAttempt();
  const block = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const { pages_purged } = await call<ForgetResponse>('POST', '/v1/forget', { body: { domain } });
      dropKeptSearches();
      setPurged(pages_purged);
    });
  };
  if (purged !== null) {
    const close = () => {
      onClose();
      onDone();
    };
    return (
      <Dialog title="Deleted and blocked" onClose={close}>
        <Forgetting purged={purged} />
        <p class="quiet">
          The site stays blocked until you unblock it under <a href={linkTo('system')}>System</a>.
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Delete site and block it?" onClose={busy ? null : onClose}>
      <form onSubmit={block} class="stack">
        <p>
          Every page of <bdi>{domain}</bdi> and its subdomains is deleted, and none is added any more.
        </p>
        <p class="warning">
          <Icon name="alert" />
          <span>Text, vectors, names and visits are deleted from the library. This cannot be undone.</span>
        </p>
        <FormEnd
          said={said}
          busy={busy}
          act={busy ? 'Deleting…' : 'Delete site and block it'}
          danger
          cancel={onClose}
        />
      </form>
    </Dialog>
  );
}

const lookAgainMs = 2000;

/** From deleted to verified. */
function Forgetting({ purged }: { purged: number }) {
  const summary = useLoad((signal) => get<MetricsSummaryResponse>('/v1/admin/metrics/summary', {}, signal), []);
  const { data } = summary;
  const left = data === undefined ? null : data.tombstones.pending + data.tombstones.deleted;
  useRepeat([summary], lookAgainMs, left !== 0);
  return (
    <ol class="progress-steps">
      <li class="done">
        {purged > 0 ? `${many(purged, 'page')} deleted from the store` : 'No page was stored'}; not found any more
      </li>
      <li class={data !== undefined && data.tombstones.pending === 0 ? 'done' : 'doing'}>
        Deleted from the index files
      </li>
      <li class={left === 0 ? 'done' : 'doing'}>
        {left === 0
          ? 'Verified: no file contains it any more'
          : 'The files are rewritten a minute after the last deletion, then checked. You may close this.'}
      </li>
    </ol>
  );
}

/** Deletes pages or blocks a site, after a confirmation, and shows the progress. */
import { useState } from 'preact/hooks';
import type { ForgetResponse } from '../../../src/domain/blacklist.ts';
import type { MetricsSummaryResponse } from '../../../src/domain/metrics.ts';
import { call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { useAttempt } from '../../app/notices.tsx';
import { linkTo } from '../../app/router.ts';
import { count, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Dialog, FormFault } from '../../ui/parts.tsx';
import { dropKeptSearches } from '../search/use-search.ts';

interface Props {
  url: string;
  title: string;
  domain: string;
  /** Addresses of the page's duplicates. */
  similar?: readonly string[];
  onClose: () => void;
  /** After `onClose`, if pages were deleted, also if others failed. */
  onDone: () => void;
}

export function ForgetDialog({ url, title, domain, similar = [], onClose, onDone }: Props) {
  const [scope, setScope] = useState<'page' | 'all' | 'site'>('page');
  const [isDone, setDone] = useState(false);
  /** Pages purged, by address or site: a retry leaves these out. */
  const [forgotten, setForgotten] = useState<ReadonlyMap<string, number>>(new Map());
  const left = similar.filter((each) => !forgotten.has(each));
  const { busy, said, attempt } = useAttempt();
  const forget = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const names = scope === 'site' ? [domain] : scope === 'all' ? [url, ...similar] : [url];
      try {
        for (const name of names.filter((each) => !forgotten.has(each))) {
          const body = scope === 'site' ? { domain } : { url: name };
          const { pages_purged } = await call<ForgetResponse>('POST', '/v1/forget', { body });
          setForgotten((now) => new Map(now).set(name, pages_purged));
        }
        setDone(true);
      } finally {
        dropKeptSearches();
      }
    });
  };
  const close = () => {
    onClose();
    if (forgotten.size > 0) onDone();
  };
  if (isDone) {
    return (
      <Dialog title="Forgotten" onClose={close}>
        <Forgetting purged={[...forgotten.values()].reduce((sum, each) => sum + each, 0)} />
        <p class="quiet">
          It stays blocked until you unblock it under <a href={linkTo('system')}>System</a>.
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Delete permanently?" onClose={busy ? null : close}>
      <form onSubmit={forget} class="stack">
        <fieldset class="choices">
          <legend class="hidden">What to delete</legend>
          <label class="choice">
            <input type="radio" name="scope" checked={scope === 'page'} onChange={() => setScope('page')} />
            <span>
              <strong>This page</strong>
              <span class="quiet">
                <bdi>{title}</bdi>
              </span>
            </span>
          </label>
          {left.length > 0 && (
            <>
              <label class="choice">
                <input type="radio" name="scope" checked={scope === 'all'} onChange={() => setScope('all')} />
                <span>
                  <strong>This page and {count(left.length)} similar</strong>
                  <span class="quiet">
                    This also deletes {many(left.length, 'other address', 'other addresses')} of this text or nearly
                    equal texts:
                  </span>
                </span>
              </label>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll what has the focus */}
              <section class="similar-addresses" aria-label="Other addresses" tabIndex={0}>
                <ul class="plain-list">
                  {left.map((address) => (
                    <li key={address}>
                      <bdi>{address}</bdi>
                    </li>
                  ))}
                </ul>
              </section>
            </>
          )}
          <label class="choice">
            <input type="radio" name="scope" checked={scope === 'site'} onChange={() => setScope('site')} />
            <span>
              <strong>
                Everything from <bdi>{domain}</bdi>
              </strong>
              <span class="quiet">every page of this site and its subdomains</span>
            </span>
          </label>
        </fieldset>
        <p class="warning">
          <Icon name="alert" />
          <span>Text, vectors, names and visits are deleted from the library. This cannot be undone.</span>
        </p>
        <FormFault said={said} />
        <div class="dialog-actions">
          <button type="button" class="button" disabled={busy} onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button button-danger" disabled={busy}>
            {busy ? 'Deleting…' : deleteWords[scope]}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const deleteWords = { page: 'Delete page', all: 'Delete all', site: 'Delete site and block it' };

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

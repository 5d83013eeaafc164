/** Deletes a page or blocks a site, after a confirmation, and shows the progress. */
import { useState } from 'preact/hooks';
import type { ForgetResponse } from '../../../src/domain/blacklist.ts';
import type { MetricsSummaryResponse } from '../../../src/domain/metrics.ts';
import { call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { useAttempt } from '../../app/notices.tsx';
import { leaveBack, linkTo } from '../../app/router.ts';
import { many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Dialog, FormFault } from '../../ui/parts.tsx';
import { dropKeptSearches } from '../search/use-search.ts';

interface Props {
  url: string;
  title: string;
  domain: string;
  onClose: () => void;
}

export function ForgetDialog({ url, title, domain, onClose }: Props) {
  const [scope, setScope] = useState<'page' | 'site'>('page');
  const [done, setDone] = useState<ForgetResponse | null>(null);
  const { busy, said, attempt } = useAttempt();
  const forget = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const body = scope === 'page' ? { url } : { domain };
      setDone(await call<ForgetResponse>('POST', '/v1/forget', { body }));
      dropKeptSearches();
    });
  };
  if (done !== null) {
    return (
      <Dialog
        title="Forgotten"
        onClose={() => {
          onClose();
          leaveBack();
        }}
      >
        <Forgetting done={done} />
        <p class="quiet">
          It stays blocked until you unblock it under <a href={linkTo('system')}>System</a>.
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog title="Delete permanently?" onClose={busy ? null : onClose}>
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
          <button type="button" class="button" disabled={busy} onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-danger" disabled={busy}>
            {busy ? 'Deleting…' : scope === 'page' ? 'Delete page' : 'Delete site and block it'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const lookAgainMs = 2000;

/** From deleted to verified. */
function Forgetting({ done }: { done: ForgetResponse }) {
  const summary = useLoad((signal) => get<MetricsSummaryResponse>('/v1/admin/metrics/summary', {}, signal), []);
  const { data } = summary;
  const left = data === undefined ? null : data.tombstones.pending + data.tombstones.deleted;
  useRepeat([summary], lookAgainMs, left !== 0);
  const isIndexed = done.pages_purged > 0;
  return (
    <ol class="progress-steps">
      <li class="done">
        {isIndexed ? `${many(done.pages_purged, 'page')} deleted from the store` : 'No page was stored'}; not found any
        more
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

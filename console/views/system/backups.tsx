/** Backups: a button to make one, and the list. */
import { useState } from 'preact/hooks';
import type { BackupListResponse, NewBackupResponse } from '../../../src/domain/admin.ts';
import { call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { bytes, many, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Fault, Rows } from '../../ui/parts.tsx';

const lookAgainMs = 2000;

export function Backups() {
  const backups = useLoad((signal) => get<BackupListResponse>('/v1/admin/backups', {}, signal), []);
  const { data, error, reload } = backups;
  const [isAsked, setAsked] = useState(false);
  const isRunning = isAsked || (data?.running ?? false);
  useRepeat([backups], lookAgainMs, isRunning);
  const make = async () => {
    setAsked(true);
    await attempt(async () => {
      const { pages, removed } = await call<NewBackupResponse>('POST', '/v1/admin/backups');
      const deleted = removed.length === 0 ? '' : ` ${many(removed.length, 'older backup')} deleted.`;
      notify(`${many(pages, 'page')} are in a new backup.${deleted}`);
    });
    setAsked(false);
    reload();
  };
  return (
    <section class="block" aria-labelledby="backups">
      <div class="section-head">
        <div>
          <h2 id="backups">Backups</h2>
          <p class="quiet break">
            In <bdi>{data?.dir ?? '…'}</bdi>. Pages that you delete later stay in older backups.
          </p>
        </div>
        {mayWrite() && (
          <button type="button" class="button" disabled={isRunning} onClick={make}>
            <Icon name="copy" />
            {isRunning ? 'Backing up…' : 'Back up now'}
          </button>
        )}
      </div>
      <Fault error={error} retry={reload} />
      <Rows items={data?.backups} atOnce={10}>
        {({ dir, taken_at, pages, bytes: size }) => (
          <li key={dir} class="row">
            <span class="numbers quiet">{bytes(size)}</span>
            <div class="row-main">
              <p class="row-title">{timeOf(taken_at)}</p>
              <p class="quiet break">
                <bdi>{dir}</bdi>
              </p>
            </div>
            <span class="row-end">{many(pages, 'page')}</span>
          </li>
        )}
      </Rows>
    </section>
  );
}

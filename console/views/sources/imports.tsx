/** Imports dropped files and shows their progress. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ImportResponse as Import, ImportListResponse } from '../../../src/domain/import.ts';
import { call, get, inOneDirection, upload } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { ago, bytes, count, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Fault } from '../../ui/parts.tsx';
import { isolated } from '../../ui/text.tsx';

const lookAgainMs = 1000;
const statusKinds = { running: 'live', done: 'ok', failed: 'bad', stopped: 'warn' } as const;

/** Uploads in progress, also while another view is open. */
const sending = signal<readonly File[]>([]);

async function send(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    sending.value = [...sending.value, file];
    await attempt(
      () => upload<Import>('/v1/imports', { name: file.name, format: 'auto' }, file),
      (said) => notify(said.includes(file.name) ? said : `${isolated(file.name)}: ${said}`, 'error'),
    );
    sending.value = sending.value.filter((each) => each !== file);
  }
}

export function Imports() {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const load = useLoad((signal) => get<ImportListResponse>('/v1/imports', {}, signal), []);
  const { data, error, reload } = load;
  const imports = data?.imports ?? [];
  const isRunning = imports.some(({ status }) => status === 'running');
  useRepeat([load], lookAgainMs, isRunning);
  useEffect(reload, [sending.value]);
  useDrop(setOver);
  return (
    <section class="block" aria-labelledby="imports">
      <h2 id="imports">Import your history</h2>
      {mayWrite() && (
        <div class={isOver ? 'drop drop-over' : 'drop'}>
          <span class="empty-icon">
            <Icon name="file" />
          </span>
          <p>
            <strong>Drop a file here</strong>
            <span class="quiet">
              A browser’s History or places.sqlite, bookmarks, the export of any program as CSV, JSON, HTML or ZIP,
              saved pages, web archives, documents, or a list of addresses. The format is detected.
            </span>
          </p>
          <input
            ref={picker}
            type="file"
            multiple
            class="hidden"
            tabIndex={-1}
            aria-label="Files to import"
            onChange={({ currentTarget }) => {
              void send([...(currentTarget.files ?? [])]);
              currentTarget.value = '';
            }}
          />
          <button type="button" class="button" onClick={() => picker.current?.click()}>
            Choose files
          </button>
        </div>
      )}
      <Fault error={error} retry={reload} />
      <p class="hidden" role="status">
        {isRunning ? 'Files are being imported.' : imports.length > 0 && 'All files are imported.'}
      </p>
      <ul class="rows">
        {sending.value.map(({ name }, at) => (
          <li key={at} class="row">
            <Badge kind="live">sending</Badge>
            <div class="row-main">
              <p class="row-title">
                <bdi>{name}</bdi>
              </p>
              <progress aria-label={`Sending ${name}`} />
            </div>
          </li>
        ))}
        {imports.map((each) => (
          <ImportRow key={each.id} item={each} changed={reload} />
        ))}
      </ul>
      <p class="quiet">
        This list is cleared when the service restarts; imported pages stay. To continue an interrupted import, send its
        file again.
      </p>
    </section>
  );
}

/** Files may be dropped anywhere in the window. */
function useDrop(setOver: (isOver: boolean) => void): void {
  useEffect(() => {
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      setOver(mayWrite());
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      setOver(false);
      if (mayWrite()) void send([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener('dragover', onDragOver);
    addEventListener('dragleave', onDragLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('dragleave', onDragLeave);
      removeEventListener('drop', onDrop);
    };
  }, []);
}

function ImportRow({ item, changed }: { item: Import; changed: () => void }) {
  const { id, name, format, status, bytes: size, items, created, revisits, skipped, error, started_at } = item;
  const left = skipped.reduce((sum, { count: n }) => sum + n, 0);
  const stop = async () => {
    await call('DELETE', `/v1/imports/${encodeURIComponent(id)}`);
    changed();
  };
  return (
    <li class="row">
      <Badge kind={statusKinds[status]}>{status}</Badge>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
          <span class="quiet">
            {' '}
            {format ?? ''} · {bytes(size)}
          </span>
        </p>
        <p class="counts">
          <span>
            <strong>{count(created)}</strong> new
          </span>
          <span>
            <strong>{count(revisits)}</strong> known
          </span>
          <span>
            <strong>{count(left)}</strong> skipped
          </span>
          <span class="quiet">of {many(items, 'item')} read</span>
        </p>
        {skipped.length > 0 && (
          <details>
            <summary>Skipped items</summary>
            <ul class="plain-list">
              {skipped.map(({ reason, count: n }) => (
                <li key={reason}>
                  <bdi>{inOneDirection(reason)}</bdi> <span class="numbers">{count(n)}</span>
                </li>
              ))}
            </ul>
          </details>
        )}
        {error !== null && (
          <p class="row-error">
            <bdi>{inOneDirection(error)}</bdi>
          </p>
        )}
        {status === 'running' && <progress aria-label={`Import of ${name}`} />}
      </div>
      <div class="row-end">
        <time dateTime={started_at}>{ago(started_at)}</time>
        {status === 'running' && mayWrite() && (
          <ActButton class="button button-small" act={stop}>
            Stop
          </ActButton>
        )}
      </div>
    </li>
  );
}

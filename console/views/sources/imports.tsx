/** Previews dropped files, imports them and shows their progress. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  ColumnKind,
  ImportResponse as Import,
  ImportListResponse,
  ImportPreviewResponse,
} from '../../../src/domain/import.ts';
import { call, get, inOneDirection, upload } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { attempt, notify } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { ago, bytes, count, dateOf, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Fault, Table } from '../../ui/parts.tsx';
import { isolated } from '../../ui/text.tsx';

const lookAgainMs = 1000;
const statusKinds = { running: 'live', done: 'ok', failed: 'bad', stopped: 'warn' } as const;

/** A file before its import. */
interface Upload {
  id: number;
  file: File;
  /** Null until the file is read: it is being sent, or was refused. */
  preview: ImportPreviewResponse | null;
  /** Columns chosen by the user; null for those that the preview proposes. */
  kinds: Kinds;
  /** `auto`, or what is chosen for a file that is not recognised. */
  format: string;
  /** Why it is refused. */
  reason: string | null;
  /** The request that is not answered yet. */
  sent: { kinds: Kinds; dry_run: boolean } | null;
}
type Kinds = readonly (ColumnKind | null)[] | null;

/** Kept while another view is open. */
const uploads = signal<readonly Upload[]>([]);
let nextId = 1;

const change = (id: number, part: Partial<Upload>): void => {
  uploads.value = uploads.value.map((each) => (each.id === id ? { ...each, ...part } : each));
};

const drop = (id: number): void => {
  uploads.value = uploads.value.filter((each) => each.id !== id);
};

/** Send a file; null if it is refused. */
async function send<Answer>({ id, file, format }: Upload, kinds: Kinds, dry_run: boolean): Promise<Answer | null> {
  const sent = { kinds, dry_run };
  change(id, { sent });
  /** False if columns were chosen again. */
  const isLatest = () => uploads.value.some((each) => each.sent === sent);
  const query = { name: file.name, format, dry_run, ...(kinds && { columns: columnsText(kinds) }) };
  let answer: Answer | null = null;
  await attempt(
    async () => {
      answer = await upload<Answer>('/v1/imports', query, file);
    },
    (said) => {
      if (!isLatest()) return;
      change(id, { reason: said });
      notify(said.includes(file.name) ? said : `${isolated(file.name)}: ${said}`, 'error');
    },
  );
  if (!isLatest()) return null;
  change(id, { sent: null });
  return answer;
}

/** A refused preview keeps the previous one, and the file. */
async function preview(chosen: Upload, kinds: Kinds): Promise<void> {
  const read = await send<ImportPreviewResponse>(chosen, kinds, true);
  if (read !== null) change(chosen.id, { preview: read, kinds });
}

async function previewAll(files: readonly File[]): Promise<void> {
  for (const file of files) {
    const added: Upload = { id: nextId++, file, preview: null, kinds: null, format: 'auto', reason: null, sent: null };
    uploads.value = [...uploads.value, added];
    await preview(added, null);
  }
}

async function importFile(chosen: Upload): Promise<void> {
  const begun = await send<Import>(chosen, chosen.kinds, false);
  if (begun !== null) drop(chosen.id);
}

/** Sends one file after another, because the service accepts few at a time. */
async function importAll(ready: readonly Upload[]): Promise<void> {
  for (const { id } of ready) {
    // It may have been changed or cancelled meanwhile.
    const now = uploads.value.find((each) => each.id === id);
    if (now !== undefined && now.sent === null) await importFile(now);
  }
}

/** Of a file that is not recognised. */
const formatNames = {
  auto: 'Detect the format',
  files: 'My own text or HTML',
  urls: 'List of addresses',
  csv: 'CSV',
  json: 'JSON',
  bookmarks: 'Bookmarks, HTML',
};

const columnNames: Record<ColumnKind, string> = {
  url: 'Address',
  title: 'Title',
  date: 'Date',
  tags: 'Tags',
  folder: 'Folder',
  note: 'Note',
  description: 'Description',
  author: 'Author',
};
const columnKinds = Object.keys(columnNames) as ColumnKind[];

/** The parameter `columns`: each kind with its columns, or none. */
const columnsText = (kinds: readonly (ColumnKind | null)[]): string =>
  columnKinds
    .flatMap((kind) => {
      const columns = kinds.flatMap((each, at) => (each === kind ? [at + 1] : []));
      return columns.length === 0 ? [`${kind}=`] : columns.map((column) => `${kind}=${column}`);
    })
    .join(',');

export function Imports() {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const load = useLoad((signal) => get<ImportListResponse>('/v1/imports', {}, signal), []);
  const { data, error, reload } = load;
  const imports = data?.imports ?? [];
  const isRunning = imports.some(({ status }) => status === 'running');
  useRepeat([load], lookAgainMs, isRunning);
  useEffect(reload, [uploads.value]);
  const ready = uploads.value.filter(({ preview, sent }) => sent === null && (preview?.items ?? 0) > 0);
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
              void previewAll([...(currentTarget.files ?? [])]);
              currentTarget.value = '';
            }}
          />
          <button type="button" class="button" onClick={() => picker.current?.click()}>
            Choose files
          </button>
        </div>
      )}
      <Fault error={error} retry={reload} />
      {ready.length > 1 && (
        <button type="button" class="button" onClick={() => void importAll(ready)}>
          Import all {count(ready.length)} files
        </button>
      )}
      <p class="hidden" role="status">
        {progressOf(imports)}
      </p>
      <ul class="rows">
        {uploads.value.map((each) =>
          each.preview === null ? (
            <UnreadRow key={each.id} chosen={each} />
          ) : (
            <PreviewRow key={each.id} chosen={each} read={each.preview} />
          ),
        )}
        {imports.map((each) => (
          <ImportRow key={each.id} item={each} changed={reload} />
        ))}
      </ul>
      {imports.length > 0 && (
        <p class="quiet">
          This list is cleared when the service restarts; imported pages stay. To continue an interrupted import, send
          its file again.
        </p>
      )}
    </section>
  );
}

/** For screen readers. */
function progressOf(imports: readonly Import[]): string {
  const ready = uploads.value.filter(({ preview, sent }) => preview !== null && sent === null).length;
  const done = imports.filter(({ status }) => status === 'done').length;
  const now = [
    ready > 0 && `${many(ready, 'preview')} ready.`,
    uploads.value.some(({ sent }) => sent !== null) && 'Files are being sent.',
    imports.some(({ status }) => status === 'running') && 'Files are being imported.',
  ].filter(Boolean);
  if (now.length > 0 || imports.length === 0) return now.join(' ');
  return done === imports.length
    ? 'All files are imported.'
    : `${count(done)} of ${many(imports.length, 'file')} imported.`;
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
      if (mayWrite()) void previewAll([...(event.dataTransfer?.files ?? [])]);
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

/** Being sent, or refused. */
function UnreadRow({ chosen }: { chosen: Upload }) {
  const { id, file, format, reason, sent } = chosen;
  return (
    <li class="row">
      {sent === null ? <Badge kind="bad">refused</Badge> : <Badge kind="live">sending</Badge>}
      <div class="row-main">
        <p class="row-title">
          <bdi>{file.name}</bdi>
        </p>
        {sent !== null && <progress aria-label={`Sending ${file.name}`} />}
        {sent === null && reason !== null && (
          <p class="row-error">
            <bdi>{inOneDirection(reason)}</bdi>
          </p>
        )}
      </div>
      {sent === null && (
        <div class="row-end">
          <select
            class="input"
            aria-label={`Format of ${file.name}`}
            value={format}
            onChange={({ currentTarget }) => change(id, { format: currentTarget.value })}
          >
            {Object.entries(formatNames).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
          <button type="button" class="button button-small" onClick={() => void preview(chosen, null)}>
            Try again
          </button>
          <button type="button" class="button button-small" onClick={() => drop(id)}>
            Cancel
          </button>
        </div>
      )}
    </li>
  );
}

function PreviewRow({ chosen, read }: { chosen: Upload; read: ImportPreviewResponse }) {
  const { id, file, kinds, sent } = chosen;
  const { format, items, addresses, unreadable, examples, faults, first, columns, oldest, newest, error } = read;
  const skipped = Object.entries({ ...read.skipped, ...(unreadable > 0 && { 'cannot be read': unreadable }) }).map(
    ([reason, n]) => ({ reason, count: n }),
  );
  const left = skipped.reduce((sum, { count: n }) => sum + n, 0);
  const shownKinds = sent?.kinds ?? kinds ?? columns.map(({ is }) => is);
  return (
    <li class="row" aria-busy={sent !== null}>
      {sent === null ? <Badge kind={items > 0 ? 'plain' : 'warn'}>preview</Badge> : <Badge kind="live">sending</Badge>}
      <div class="row-main">
        <p class="row-title">
          <bdi>{file.name}</bdi>
          <span class="quiet">
            {' '}
            {format ?? ''} · {bytes(file.size)}
            {read.imported_before && ' · imported before'}
          </span>
        </p>
        <p class="counts">
          <span>
            <strong>{addresses === null ? 'over a million' : count(addresses)}</strong> pages
          </span>
          <span>
            <strong>{count(left)}</strong> skipped
          </span>
          <span class="quiet">of {many(items + left, 'item')}</span>
          {oldest !== null && newest !== null && (
            <span class="quiet">
              {dateOf(oldest)} – {dateOf(newest)}
            </span>
          )}
        </p>
        <ul class="plain-list">
          {first.map(({ url, title }, at) => (
            <li key={at}>
              <bdi>{title ?? url}</bdi> {title !== null && <bdi class="quiet">{url}</bdi>}
            </li>
          ))}
        </ul>
        {left > 0 && <Skipped skipped={skipped} lines={[...faults, ...examples.map(lineOf)]} />}
        {error !== null && (
          <p class="row-error">
            <bdi>{inOneDirection(error)}</bdi>
          </p>
        )}
        {columns.length > 0 && (
          <Table label={`Columns of ${file.name}`} columns={['Column', 'Example', 'Imported']}>
            <tbody>
              {columns.map(({ name, example, is, is_read }, at) => (
                <tr key={at}>
                  <th scope="row">
                    <bdi>{name}</bdi>
                  </th>
                  <td>
                    <bdi>{example}</bdi>
                  </td>
                  <td>
                    <select
                      class="input"
                      aria-label={`Column ${name} is`}
                      value={shownKinds[at] ?? ''}
                      disabled={sent?.dry_run === false}
                      onChange={({ currentTarget }) =>
                        void preview(chosen, shownKinds.with(at, (currentTarget.value || null) as ColumnKind | null))
                      }
                    >
                      <option value="">{is === null && is_read ? 'As its name says' : 'Not imported'}</option>
                      {columnKinds.map((kind) => (
                        <option key={kind} value={kind}>
                          {columnNames[kind]}
                        </option>
                      ))}
                    </select>
                  </td>
                </tr>
              ))}
            </tbody>
          </Table>
        )}
        {sent !== null && <progress aria-label={`Sending ${file.name}`} />}
      </div>
      <div class="row-end">
        <button
          type="button"
          class="button button-small button-primary"
          disabled={items === 0 || sent !== null}
          onClick={() => void importFile(chosen)}
        >
          Import {addresses === null ? 'all pages' : many(addresses, 'page')}
        </button>
        <button type="button" class="button button-small" disabled={sent !== null} onClick={() => drop(id)}>
          Cancel
        </button>
      </div>
    </li>
  );
}

const lineOf = ({ place, title, reason }: ImportPreviewResponse['examples'][number]): string =>
  [place, reason, title].filter((part) => part !== '').join(': ');

function Skipped({ skipped, lines = [] }: { skipped: Import['skipped']; lines?: readonly string[] }) {
  return (
    <details>
      <summary>Skipped items</summary>
      <ul class="plain-list">
        {skipped.map(({ reason, count: n }) => (
          <li key={reason}>
            <bdi>{inOneDirection(reason)}</bdi> <span class="numbers">{count(n)}</span>
          </li>
        ))}
        {lines.map((line, at) => (
          <li key={at} class="quiet">
            <bdi>{inOneDirection(line)}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
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
        {skipped.length > 0 && <Skipped skipped={skipped} />}
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

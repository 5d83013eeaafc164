/** Watched feeds, podcasts and channels. */
import { useState } from 'preact/hooks';
import type { WatchKind, WatchListResponse, WatchResponse } from '../../../src/domain/watch.ts';
import { ApiError, call, get, inOneDirection } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { notify, useAttempt } from '../../app/notices.tsx';
import { mayWrite } from '../../app/session.tsx';
import { ago, many, timeOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Confirm, Dialog, Empty, Fault, FormFault } from '../../ui/parts.tsx';
import { isolated, nameOf, shortUrl, typedAddress } from '../../ui/text.tsx';
import { FoundFeed } from './address-check.tsx';

const lookAgainMs = 3000;
const kinds: readonly [WatchKind, string][] = [
  ['rss', 'News feed'],
  ['podcast', 'Podcast'],
  ['video', 'Video channel'],
];
const kindWords = Object.fromEntries(kinds);

export function Watches() {
  const load = useLoad((signal) => get<WatchListResponse>('/v1/watches', {}, signal), []);
  const { data, error, reload } = load;
  const [edited, setEdited] = useState<WatchResponse | 'new' | null>(null);
  /** By watch, its last poll before the user requested one. */
  const [asked, setAsked] = useState<ReadonlyMap<string, string | null>>(new Map());
  const watches = data?.watches ?? [];
  const isPolled = ({ id, last_run_at }: WatchResponse) => asked.get(id) === last_run_at;
  useRepeat(
    [load],
    lookAgainMs,
    watches.some((watch) => (watch.enabled && watch.last_status === 'pending') || isPolled(watch)),
  );
  const run = async (watch: WatchResponse) => {
    await call('POST', `${pathOf(watch)}/run`);
    notify('Checking for new items.');
    setAsked((before) => new Map(before).set(watch.id, watch.last_run_at));
    reload();
  };
  return (
    <section class="block" aria-labelledby="watches">
      <div class="section-head">
        <h2 id="watches">Feeds you follow</h2>
        {mayWrite() && (
          <button type="button" class="button" onClick={() => setEdited('new')}>
            <Icon name="plus" />
            Add a feed
          </button>
        )}
      </div>
      <Fault error={error} retry={reload} />
      {data !== undefined && watches.length === 0 && (
        <Empty icon="sources" title="No feeds yet">
          <p>New items of a feed, podcast or channel are fetched and made searchable.</p>
        </Empty>
      )}
      <ul class="rows">
        {watches.map((watch) => (
          <WatchRow
            key={watch.id}
            watch={watch}
            isPolled={isPolled(watch)}
            run={() => run(watch)}
            edit={() => setEdited(watch)}
          />
        ))}
      </ul>
      {edited !== null && (
        <WatchDialog
          watch={edited === 'new' ? null : edited}
          known={new Set(watches.map(({ id }) => id))}
          onClose={() => {
            setEdited(null);
            reload();
          }}
        />
      )}
    </section>
  );
}

const pathOf = ({ id }: WatchResponse) => `/v1/watches/${encodeURIComponent(id)}`;

interface WatchRowProps {
  watch: WatchResponse;
  /** Whether a requested poll runs. */
  isPolled: boolean;
  run: () => Promise<unknown>;
  edit: () => void;
}

function WatchRow({ watch, isPolled, run, edit }: WatchRowProps) {
  const {
    title,
    url,
    kind,
    enabled,
    interval_hours,
    last_status,
    last_error,
    last_run_at,
    next_run_at,
    last_item_count,
  } = watch;
  return (
    <li class="row">
      {isPolled ? (
        <Badge kind="live">checking</Badge>
      ) : enabled ? (
        <Badge kind={last_status === 'error' ? 'bad' : last_status === 'ok' ? 'ok' : 'live'}>
          {last_status === 'pending' ? 'waiting' : last_status}
        </Badge>
      ) : (
        <Badge kind="plain">paused</Badge>
      )}
      <div class="row-main">
        <p class="row-title">
          <bdi>{nameOf({ title, canonical_url: url })}</bdi>
        </p>
        <p class="quiet break">
          {kindWords[kind]} · every {interval_hours} h · <bdi>{shortUrl(url)}</bdi>
        </p>
        {last_error !== null && (
          <p class="row-error">
            <bdi>{inOneDirection(last_error)}</bdi>
          </p>
        )}
      </div>
      <div class="row-end">
        <span class="quiet">
          {last_run_at === null ? (
            'not checked yet'
          ) : (
            <time dateTime={last_run_at} title={`next ${timeOf(next_run_at)}`}>
              {ago(last_run_at)}
              {last_item_count !== null && `, ${many(last_item_count, 'item')}`}
            </time>
          )}
        </span>
        {mayWrite() && (
          <>
            <ActButton class="icon-button" label={`Check ${isolated(title ?? url)} now`} act={run}>
              <Icon name="play" />
            </ActButton>
            <button type="button" class="icon-button" aria-label={`Change ${isolated(title ?? url)}`} onClick={edit}>
              <Icon name="edit" />
            </button>
          </>
        )}
      </div>
    </li>
  );
}

/** Errors: as of `call`; a sentence if it was deleted elsewhere. */
async function change(watch: WatchResponse, body: object): Promise<void> {
  try {
    await call('PATCH', pathOf(watch), { body });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw new Error('Feed removed.', { cause: error });
    throw error;
  }
}

interface WatchDialogProps {
  watch: WatchResponse | null;
  /** Ids of existing watches. */
  known: ReadonlySet<string>;
  onClose: () => void;
}

function WatchDialog({ watch, known, onClose }: WatchDialogProps) {
  const [url, setUrl] = useState(watch?.url ?? '');
  const [kind, setKind] = useState<WatchKind>(watch?.kind ?? 'rss');
  const [title, setTitle] = useState(watch?.title ?? '');
  const [hours, setHours] = useState(String(watch?.interval_hours ?? ''));
  const [enabled, setEnabled] = useState(watch?.enabled ?? true);
  const { busy, said, attempt } = useAttempt();
  const [stops, setStops] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    const shared = {
      title: title.trim() === '' ? null : title.trim(),
      enabled,
      ...(hours !== '' && { interval_hours: Number(hours) }),
    };
    void attempt(async () => {
      if (watch === null) {
        const { id } = await call<WatchResponse>('POST', '/v1/watches', {
          body: { url: typedAddress(url), kind, ...shared },
        });
        if (known.has(id)) throw new Error('You already follow this feed.');
      } else await change(watch, shared);
      onClose();
    });
  };
  if (watch !== null && stops) {
    return (
      <Confirm
        title="Stop following?"
        act="Stop following"
        onAct={() => call('DELETE', pathOf(watch))}
        onClose={onClose}
      >
        <p>
          <bdi>{nameOf({ title: watch.title, canonical_url: watch.url })}</bdi> is not polled any more. Its pages stay.
        </p>
      </Confirm>
    );
  }
  return (
    <Dialog title={watch === null ? 'Follow a feed' : 'Change this feed'} onClose={busy ? null : onClose}>
      <form class="stack" onSubmit={submit}>
        <label class="field">
          <span>Address</span>
          <input
            class="input"
            type="text"
            inputmode="url"
            autocapitalize="off"
            spellcheck={false}
            required
            disabled={watch !== null}
            maxLength={8192}
            placeholder="https://example.org/feed.xml"
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
        {watch === null && <FoundFeed typed={url} kind={kind} />}
        <div class="field-pair">
          <label class="field">
            <span>Kind</span>
            <select
              class="input"
              disabled={watch !== null}
              value={kind}
              onChange={({ currentTarget }) =>
                setKind(kinds.find(([name]) => name === currentTarget.value)?.[0] ?? 'rss')
              }
            >
              {kinds.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Hours between checks</span>
            <input
              class="input"
              type="number"
              min={1}
              max={8760}
              required={watch !== null}
              placeholder="default"
              value={hours}
              onInput={({ currentTarget }) => setHours(currentTarget.value)}
            />
          </label>
        </div>
        <label class="field">
          <span>Title</span>
          <input
            class="input"
            maxLength={4096}
            placeholder="from the feed"
            value={title}
            onInput={({ currentTarget }) => setTitle(currentTarget.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={enabled}
            onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
          />
          Check automatically
        </label>
        <FormFault said={said} />
        <div class="dialog-actions">
          {watch !== null && (
            <button
              type="button"
              class="button button-quiet-danger push"
              disabled={busy}
              onClick={() => setStops(true)}
            >
              Stop following…
            </button>
          )}
          <button type="submit" class="button button-primary" disabled={busy}>
            {watch === null ? 'Follow' : 'Save'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

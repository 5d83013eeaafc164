/** System: health, access, blocked sites and settings. */
import { useState } from 'preact/hooks';
import type { MetricsSummaryResponse } from '../../../src/domain/admin.ts';
import type { BlacklistResponse } from '../../../src/domain/blacklist.ts';
import { call, get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { linkTo } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { bytes, count, dateOf, duration, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { ActButton, Badge, Fault, Rows, Table, ViewHead, Waiting } from '../../ui/parts.tsx';
import { Access } from './access.tsx';
import { Backups } from './backups.tsx';
import { Disk } from './disk.tsx';
import { Growth } from './growth.tsx';

const lookAgainMs = 5000;

interface Readiness {
  status: 'ready' | 'unavailable';
  reason?: string;
  index?: { state: 'whole' | 'rebuilding'; indexed_chunks: number; total_chunks: number };
}

/** 503 is a valid answer here. */
async function readiness(signal: AbortSignal): Promise<Readiness> {
  const response = await fetch('/readyz', { signal, cache: 'no-store' });
  return (await response.json()) as Readiness;
}

export function SystemView() {
  const ready = useLoad(readiness, []);
  const summary = useLoad((signal) => get<MetricsSummaryResponse>('/v1/admin/metrics/summary', {}, signal), []);
  useRepeat([ready, summary], lookAgainMs, true);
  return (
    <div class="view">
      <ViewHead title="System" lead="Health, access and settings." />
      <Fault error={summary.error} retry={summary.reload} />
      <Health ready={ready.data} isAway={ready.error !== undefined} summary={summary.data} />
      <Disk />
      <Access />
      <Backups />
      <Forgotten />
      <Growth />
      <Settings />
    </div>
  );
}

interface HealthProps {
  ready: Readiness | undefined;
  /** Whether the last request failed and the data is older. */
  isAway: boolean;
  summary: MetricsSummaryResponse | undefined;
}

function Health({ ready, isAway, summary }: HealthProps) {
  if (ready === undefined || summary === undefined) return <Waiting />;
  const { index } = ready;
  const open = summary.breakers.filter(({ state }) => state !== 'closed');
  const { tombstones, search_latency: latency, jobs } = summary;
  const left = tombstones.pending + tombstones.deleted;
  return (
    <section aria-label="Health">
      <dl class="tiles">
        <Tile
          name="Service"
          state={ready.status === 'ready' && !isAway ? 'ok' : 'bad'}
          value={isAway ? 'Unreachable' : ready.status === 'ready' ? 'Ready' : 'Not ready'}
        >
          {isAway
            ? 'does not answer; showing the last known state'
            : (ready.reason ?? 'accepts pages, answers searches')}
        </Tile>
        <Tile
          name="Index"
          state={index?.state === 'whole' ? 'ok' : 'live'}
          value={index === undefined ? '–' : count(index.indexed_chunks)}
        >
          {index?.state === 'rebuilding'
            ? `of ${count(index.total_chunks)} passages; rebuilding`
            : 'passages, all searchable'}
        </Tile>
        <Tile name="Searches" state="plain" value={latency === null ? '–' : duration(latency.p50_ms / 1000)}>
          {latency === null
            ? 'none yet'
            : `median of ${count(latency.runs)}; 95 % within ${duration(latency.p95_ms / 1000)}`}
        </Tile>
        <Tile
          name="Jobs"
          state={jobs.dead > 0 ? 'bad' : jobs.queue_depth > 0 ? 'live' : 'ok'}
          value={count(jobs.queue_depth)}
        >
          waiting
          {jobs.dead > 0 && (
            <>
              {', '}
              <a href={linkTo('jobs', '', { status: 'dead' })}>{many(jobs.dead, 'dead one')}</a>
            </>
          )}
        </Tile>
        <Tile
          name="Providers"
          state={open.length === 0 ? 'ok' : 'bad'}
          value={
            open.length > 0
              ? many(open.length, 'is unreachable', 'are unreachable')
              : summary.breakers.length > 0
                ? 'All reachable'
                : 'None'
          }
        >
          {summary.breakers.length === 0
            ? 'everything runs on this machine'
            : summary.breakers.map(({ name, state }) => (
                <span key={name} class="breaker">
                  <bdi>{name}</bdi>: {breakerWords[state]}
                </span>
              ))}
        </Tile>
        <Tile name="Deletion" state={left === 0 ? 'ok' : 'live'} value={left === 0 ? 'Done' : count(left)}>
          {left === 0 ? 'no deleted page is left on the disk' : 'pages still to be erased from the disk'}
        </Tile>
      </dl>
    </section>
  );
}

/** Words for a breaker, which is open during failures. */
const breakerWords = { closed: 'reachable', open: 'unreachable', half_open: 'retrying' };

type TileState = 'ok' | 'bad' | 'live' | 'plain';

interface TileProps {
  name: string;
  state: TileState;
  value: string;
  children: preact.ComponentChildren;
}

function Tile({ name, state, value, children }: TileProps) {
  return (
    <div class={`tile tile-${state}`}>
      <dt>{name}</dt>
      <dd class="tile-value">{value}</dd>
      <dd class="quiet">{children}</dd>
    </div>
  );
}

function Forgotten() {
  const { data, error, reload } = useLoad((signal) => get<BlacklistResponse>('/v1/blacklist', {}, signal), []);
  const lift = async (id: string) => {
    await call('DELETE', `/v1/blacklist/${encodeURIComponent(id)}`);
    reload();
  };
  return (
    <section class="block" aria-labelledby="forgotten">
      <h2 id="forgotten">Blocked sites</h2>
      <p class="quiet">Deleted pages and sites stay blocked until you unblock them.</p>
      <Fault error={error} retry={reload} />
      {data?.entries.length === 0 && <p class="quiet">No blocked sites.</p>}
      <Rows items={data?.entries} atOnce={100}>
        {({ id, pattern, kind, created_at }) => (
          <li key={id} class="row">
            <Badge kind="plain">{kind === 'domain' ? 'site' : 'page'}</Badge>
            <div class="row-main">
              <p class="row-title break">
                <bdi>{pattern}</bdi>
              </p>
            </div>
            <div class="row-end">
              <time dateTime={created_at}>{dateOf(created_at)}</time>
              {mayWrite() && (
                <ActButton class="button button-small" act={() => lift(id)}>
                  Unblock
                </ActButton>
              )}
            </div>
          </li>
        )}
      </Rows>
    </section>
  );
}

function Settings() {
  const [isOpen, setOpen] = useState(false);
  const [wanted, setWanted] = useState('');
  const { data, error, reload } = useLoad(
    (signal) => get<{ settings: Record<string, unknown> }>('/v1/admin/config', {}, signal),
    [isOpen ? 'open' : null],
  );
  const rows =
    data === undefined ? [] : flat(data.settings).filter(([name]) => name.includes(wanted.trim().toLowerCase()));
  return (
    <section class="block" aria-label="Settings">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <h2>Settings</h2>
        </summary>
        <p class="quiet">Read from the environment at the start; secrets are hidden.</p>
        <Fault error={error} retry={reload} />
        <label class="search-box search-box-small">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Find a setting"
            placeholder="Find a setting"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </label>
        <Table label="All settings" columns={['Setting', 'Value']}>
          <tbody>
            {rows.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>
                  <code>
                    <bdi>{value}</bdi>
                  </code>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      </details>
    </section>
  );
}

/** `jobs.max_attempts`, with its value as JSON; sizes also formatted. */
function flat(value: Record<string, unknown>, path = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, inner]): [string, string][] => {
    const full = path === '' ? name : `${path}.${name}`;
    if (inner !== null && typeof inner === 'object' && !Array.isArray(inner))
      return flat(inner as Record<string, unknown>, full);
    const text = typeof inner === 'string' ? inner : JSON.stringify(inner);
    return [[full, name.endsWith('_bytes') && typeof inner === 'number' ? `${text} (${bytes(inner)})` : text]];
  });
}

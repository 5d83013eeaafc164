/** The options page: reading rule, exclusions, queue and log, connection, settings file. */
import { render } from 'preact';
import { useState } from 'preact/hooks';
import { normalizeDomain } from '../../../src/compute/web/domain-match.ts';
import { type EngineName, engineNames, engines, originsOf } from '../engines/engines.ts';
import { ask, type QueueOverview } from '../messages.ts';
import type { QueuedItem } from '../queue/database.ts';
import { defaultKinds } from '../rules/default-sites.ts';
import { readSettings, type Settings, settings as settingsSchema } from '../settings.ts';
import { ImportPanel } from './import-panel.tsx';
import {
  describeDocument,
  Notice,
  numberOf,
  problemText,
  refusalText,
  t,
  timeOf,
  useLoaded,
  useTicks,
} from './parts.tsx';

type Change = (change: Partial<Settings>) => void;
const refreshMs = 2000;

function NumberField({
  name,
  value,
  min,
  max,
  step,
  change,
}: {
  name: string;
  value: number;
  min: number;
  max: number;
  step: number;
  change: (value: number) => void;
}) {
  return (
    <label class="field">
      <span>{t(name)}</span>
      <input
        type="number"
        {...{ value, min, max, step }}
        onChange={({ currentTarget }) => currentTarget.checkValidity() && change(currentTarget.valueAsNumber)}
      />
    </label>
  );
}

function Reading({ settings, change }: { settings: Settings; change: Change }) {
  return (
    <section aria-labelledby="reading">
      <h2 id="reading">{t('section_reading')}</h2>
      <NumberField
        name="active_seconds"
        value={settings.activeSeconds}
        min={1}
        max={600}
        step={1}
        change={(activeSeconds) => change({ activeSeconds })}
      />
      <NumberField
        name="scroll_share"
        value={Math.round(settings.scrollShare * 100)}
        min={10}
        max={100}
        step={5}
        change={(percent) => change({ scrollShare: percent / 100 })}
      />
      <NumberField
        name="queue_megabytes"
        value={settings.queueMegabytes}
        min={1}
        max={2000}
        step={1}
        change={(queueMegabytes) => change({ queueMegabytes })}
      />
    </section>
  );
}

function Sites({ settings, changed }: { settings: Settings; changed: () => void }) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const add = (to: 'on' | 'off') => {
    const site = normalizeDomain(typed);
    if (typeof site !== 'string') {
      setFault(t('site_invalid'));
      return;
    }
    setFault(null);
    setTyped('');
    void ask('switchSite', { site: site.replace(/^www\./, ''), to }).then(changed);
  };
  return (
    <>
      <h3>{t('sites')}</h3>
      <p class="hint">{t('sites_hint')}</p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          add('on');
        }}
      >
        <input
          type="text"
          value={typed}
          placeholder="example.org"
          aria-label={t('site_name')}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <button type="submit">{t('always_capture')}</button>
        <button type="button" onClick={() => add('off')}>
          {t('never_capture')}
        </button>
      </form>
      {fault !== null && <Notice kind="bad">{fault}</Notice>}
      <ul class="sites">
        {Object.entries(settings.sites).map(([site, to]) => (
          <li key={site}>
            <span>{site}</span>
            <span class={`tag ${to}`}>{t(to === 'on' ? 'site_on' : 'site_off')}</span>
            <button
              type="button"
              class="plain"
              aria-label={t('remove_site', site)}
              onClick={() => void ask('switchSite', { site, to: null }).then(changed)}
            >
              {t('remove')}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Rules({ settings, change, changed }: { settings: Settings; change: Change; changed: () => void }) {
  const toggle = (kind: (typeof defaultKinds)[number]) => {
    const has = settings.defaultKinds.includes(kind);
    change({
      defaultKinds: defaultKinds.filter((each) => (each === kind ? !has : settings.defaultKinds.includes(each))),
    });
  };
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">{t('section_rules')}</h2>
      <p class="hint">{t('rules_hint')}</p>
      <label class="switch">
        <input
          type="checkbox"
          checked={settings.onlyAllowed}
          onChange={() => change({ onlyAllowed: !settings.onlyAllowed })}
        />
        {t('only_allowed')}
      </label>
      <fieldset>
        <legend>{t('default_kinds')}</legend>
        {defaultKinds.map((kind) => (
          <label key={kind} class="switch">
            <input type="checkbox" checked={settings.defaultKinds.includes(kind)} onChange={() => toggle(kind)} />
            {t(`kind_${kind}`)}
          </label>
        ))}
      </fieldset>
      <Sites settings={settings} changed={changed} />
    </section>
  );
}

function Engines({ settings, change }: { settings: Settings; change: Change }) {
  const [refused, setRefused] = useState(false);
  const toggle = async (name: EngineName) => {
    const others = settings.engines.filter((each) => each !== name);
    const off = others.length < settings.engines.length;
    // Must run within the click: no await before.
    const granted = off || (await chrome.permissions.request({ origins: originsOf([name]) }));
    setRefused(!granted);
    if (granted) change({ engines: off ? others : [...others, name] });
    // A permission granted by policy stays, but nothing is loaded.
    if (off) await chrome.permissions.remove({ origins: originsOf([name]) }).catch(() => false);
  };
  return (
    <section aria-labelledby="engines">
      <h2 id="engines">{t('section_engines')}</h2>
      <p class="hint">{t('engines_hint')}</p>
      <fieldset>
        <legend>{t('engines_legend')}</legend>
        {engineNames.map((name) => (
          <label key={name} class="switch">
            <input type="checkbox" checked={settings.engines.includes(name)} onChange={() => void toggle(name)} />
            {engines[name].label}
          </label>
        ))}
      </fieldset>
      {refused && <Notice kind="warn">{t('engines_refused')}</Notice>}
    </section>
  );
}

function QueueRow({ item, changed }: { item: QueuedItem; changed: () => void }) {
  const act = (work: Promise<unknown>) => void work.then(changed);
  return (
    <tr>
      <td>
        <a href={item.url}>{item.title || item.url}</a>
        {item.reason !== null && <span class="reason">{refusalText(item.reason)}</span>}
      </td>
      <td>{timeOf(item.visitedAt)}</td>
      <td>
        <span class={`tag ${item.state}`}>{t(`state_${item.state}`)}</span>
      </td>
      <td>
        {item.state === 'refused' && (
          <button type="button" class="plain" onClick={() => act(ask('retryItem', { id: item.id }))}>
            {t('try_again')}
          </button>
        )}
        <button type="button" class="plain" onClick={() => act(ask('deleteItem', { id: item.id }))}>
          {t('delete')}
        </button>
      </td>
    </tr>
  );
}

function Queue({ overview, changed }: { overview: QueueOverview; changed: () => void }) {
  const { counts, items, log, send, totals } = overview;
  const problem = problemText(send);
  return (
    <section aria-labelledby="queue">
      <h2 id="queue">{t('section_queue')}</h2>
      <p>
        {t(
          'queue_counts',
          numberOf(counts.waiting),
          numberOf(counts.refused),
          numberOf(Math.ceil(totals.units / 500_000)),
        )}
      </p>
      {problem !== null && (
        <Notice kind="warn">
          {problem} {send.notBefore > Date.now() && t('next_try', timeOf(send.notBefore))}
          {send.problem && <span class="detail">{send.problem.detail}</span>}
        </Notice>
      )}
      {totals.dropped > 0 && <Notice kind="bad">{t('dropped', numberOf(totals.dropped))}</Notice>}
      <button type="button" onClick={() => void ask('sendNow', null).then(changed)}>
        {t('send_now')}
      </button>
      {items.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>{t('column_page')}</th>
                <th>{t('column_read')}</th>
                <th>{t('column_state')}</th>
                <th>
                  <span class="unseen">{t('column_actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <QueueRow key={item.id} item={item} changed={changed} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <details>
        <summary>{t('last_sent', numberOf(log.length))}</summary>
        <ul class="log">
          {log.map(({ id, url, title, visitedAt, outcome }) => (
            <li key={id}>
              <a href={url}>{title || url}</a> <span class="hint">{timeOf(visitedAt)}</span>{' '}
              <span class="tag">{t(`sent_${outcome}`)}</span>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function ConnectionPanel({ changes, changed }: { changes: number; changed: () => void }) {
  const connection = useLoaded(() => ask('connection', null), [changes]);
  if (connection === undefined) return null;
  return (
    <section aria-labelledby="connection">
      <h2 id="connection">{t('section_connection')}</h2>
      {connection === null ? (
        <p>
          <a class="button main" href="welcome.html">
            {t('pair_now')}
          </a>
        </p>
      ) : (
        <>
          <p>{t('paired_with', connection.address, connection.name)}</p>
          <div class="row">
            <a class="button" href="welcome.html">
              {t('pair_again')}
            </a>
            <button type="button" onClick={() => void ask('connect', null).then(changed)}>
              {t('unpair')}
            </button>
          </div>
          <p class="hint">{t('unpair_hint')}</p>
        </>
      )}
    </section>
  );
}

function SettingsFile({ settings, change }: { settings: Settings; change: Change }) {
  const [fault, setFault] = useState<string | null>(null);
  const save = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(settings, null, 2)], { type: 'application/json' }));
    link.download = 'readback-extension.json';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const load = async (file: File) => {
    try {
      change(settingsSchema.parse(JSON.parse(await file.text())));
      setFault(null);
    } catch (error) {
      setFault(t('settings_unreadable', error instanceof Error ? error.message.slice(0, 200) : ''));
    }
  };
  return (
    <section aria-labelledby="file">
      <h2 id="file">{t('section_file')}</h2>
      <p class="hint">{t('file_hint')}</p>
      <div class="row">
        <button type="button" onClick={save}>
          {t('export_settings')}
        </button>
        <label class="button">
          {t('import_settings')}
          <input
            type="file"
            accept="application/json"
            class="unseen"
            onChange={({ currentTarget }) => {
              const file = currentTarget.files?.[0];
              if (file) void load(file);
            }}
          />
        </label>
      </div>
      {fault !== null && <Notice kind="bad">{fault}</Notice>}
    </section>
  );
}

function Options() {
  const [changes, setChanges] = useState(0);
  const tick = useTicks(refreshMs);
  const changed = () => setChanges((n) => n + 1);
  const settings = useLoaded(readSettings, [changes]);
  const overview = useLoaded(() => ask('queueOverview', null), [changes, tick]);
  if (settings === undefined) return null;
  const change: Change = (made) => void ask('changeSettings', made).then(changed);
  return (
    <main>
      <h1>{t('options_title')}</h1>
      <ConnectionPanel changes={changes} changed={changed} />
      {overview && <Queue overview={overview} changed={changed} />}
      <Rules settings={settings} change={change} changed={changed} />
      <Reading settings={settings} change={change} />
      <Engines settings={settings} change={change} />
      <ImportPanel />
      <SettingsFile settings={settings} change={change} />
    </main>
  );
}

describeDocument(t('options_title'));
render(<Options />, document.getElementById('app') as HTMLElement);

/** Imports the browser's history and bookmarks: requests the permission and shows the progress. */
import { useState } from 'preact/hooks';
import { ask } from '../messages.ts';
import { isChromium } from '../omnibox.ts';
import type { ImportSource } from '../queue/database.ts';
import { Notice, numberOf, t, useLoaded, useTicks } from './parts.tsx';

const refreshMs = 1000;
const allSources: readonly ImportSource[] = ['history', 'bookmarks'];

/** Firefox also requests data collection permissions, with bookmarks as a separate kind. */
const dataOf = (sources: readonly ImportSource[]): object =>
  sources.includes('bookmarks') && !isChromium() ? { data_collection: ['bookmarksInfo'] } : {};

export function ImportPanel() {
  const tick = useTicks(refreshMs);
  const [changes, setChanges] = useState(0);
  const [chosen, setChosen] = useState<readonly ImportSource[]>(allSources);
  const [refused, setRefused] = useState(false);
  const state = useLoaded(() => ask('importState', null), [tick, changes]);
  const overview = useLoaded(() => ask('queueOverview', null), [tick, changes]);
  const changed = () => setChanges((n) => n + 1);
  const goOn = async (sources: readonly ImportSource[], begin: () => Promise<unknown>) => {
    // Must run within the click: no await before.
    const granted = await chrome.permissions.request({ permissions: [...sources], ...dataOf(sources) });
    setRefused(!granted);
    if (granted) await begin();
    changed();
  };
  const start = () => goOn(chosen, () => ask('startImport', { sources: [...chosen] }));
  const toggle = (source: ImportSource) =>
    setChosen(chosen.includes(source) ? chosen.filter((each) => each !== source) : [...chosen, source]);
  return (
    <section aria-labelledby="import">
      <h2 id="import">{t('section_import')}</h2>
      <p class="hint">{t('import_hint')}</p>
      {state?.status !== 'running' && (
        <>
          {allSources.map((source) => (
            <label key={source} class="switch">
              <input type="checkbox" checked={chosen.includes(source)} onChange={() => toggle(source)} />
              {t(`source_${source}`)}
            </label>
          ))}
          <button type="button" class="main" disabled={chosen.length === 0} onClick={() => void start()}>
            {t('start_import')}
          </button>
        </>
      )}
      {refused && <Notice kind="warn">{t('import_refused')}</Notice>}
      {state && (
        <div role="status">
          <p>
            {t(
              'import_counts',
              numberOf(state.seen),
              numberOf(state.queued),
              numberOf(state.excluded),
              numberOf(state.known),
            )}
          </p>
          {overview && overview.counts.waiting > 0 ? (
            <>
              <progress
                max={Math.max(state.queued, 1)}
                value={Math.max(0, state.queued - overview.counts.waiting)}
                aria-label={t('section_import')}
              />
              <p class="hint">{t('import_left', numberOf(overview.counts.waiting))}</p>
            </>
          ) : (
            state.status === 'done' && <Notice kind="good">{t('import_done')}</Notice>
          )}
          {state.status === 'running' && (
            <button type="button" onClick={() => void ask('pauseImport', { paused: true }).then(changed)}>
              {t('import_pause')}
            </button>
          )}
          {state.status === 'paused' && (
            <button type="button" onClick={() => void goOn(state.sources, () => ask('pauseImport', { paused: false }))}>
              {t('resume')}
            </button>
          )}
        </div>
      )}
    </section>
  );
}

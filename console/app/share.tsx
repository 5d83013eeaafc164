/** A page that another app shares with the installed console: `/?url=…` (manifest.webmanifest). Any site can link there, so it is added only after a press. */
import { signal } from '@preact/signals';
import { call } from '../api/client.ts';
import { Confirm } from '../ui/parts.tsx';
import { notify } from './notices.tsx';
import { go, linkTo } from './router.ts';

/** Apps put the address into any of the fields. */
const params = new URLSearchParams(location.search);
const given = ['url', 'text', 'title'].map((name) => params.get(name) ?? '').join(' ');
const shared = signal(/https?:\/\/\S+/i.exec(given)?.[0] ?? null);
if (location.search !== '') history.replaceState(history.state, '', location.pathname + location.hash);

export function ShareDialog() {
  if (shared.value === null) return null;
  const add = async () => {
    const body = { url: shared.value, source: 'console' };
    const { page_id } = await call<{ page_id: string }>('POST', '/v1/pages', { body });
    notify('Added. It is being fetched and indexed.');
    go(linkTo('page', page_id));
  };
  const close = () => {
    shared.value = null;
  };
  return (
    <Confirm title="Add this page?" act="Add page" isSafe onAct={add} onClose={close}>
      <p class="break">
        <bdi>{shared.value}</bdi>
      </p>
    </Confirm>
  );
}

/** A page that another app shares with the installed console: `/?url=…` (manifest.webmanifest). Any site can link there, so it is added only after a press. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../api/client.ts';
import { Confirm, Dialog } from '../ui/parts.tsx';
import { addressesIn, safeUrl } from '../ui/text.tsx';
import { KnownAddress } from '../views/sources/address-check.tsx';
import { notify } from './notices.tsx';
import { go, linkTo } from './router.ts';
import { mayWrite } from './session.tsx';

/** Apps put the address into any of these fields. */
const params = new URLSearchParams(location.search);
const [given, ...texts] = ['url', 'text', 'title'].map((name) => params.get(name) ?? '');
const all = [given, ...texts].join(' ');
const found = safeUrl(given) === null ? addressesIn(all).map(({ start, end }) => all.slice(start, end)) : [given];
const shared = signal<string | null>(found[0] ?? null);
if (location.search !== '') history.replaceState(history.state, '', location.pathname + location.hash);

const close = () => {
  shared.value = null;
};

export function ShareDialog() {
  useEffect(() => {
    addEventListener('hashchange', close); // the link to a known page was followed
    return () => removeEventListener('hashchange', close);
  }, []);
  if (shared.value === null) return null;
  if (!mayWrite())
    return (
      <Dialog title="Page not added" onClose={close}>
        <p>You may read this library, but not add pages.</p>
      </Dialog>
    );
  const add = async () => {
    const body = { url: shared.value, source: 'console' };
    const { page_id, revisit } = await call<{ page_id: string; revisit?: boolean }>('POST', '/v1/pages', { body });
    notify(revisit ? 'You have this page: a visit was added.' : 'Added. It is being fetched and indexed.');
    go(linkTo('page', page_id));
  };
  return (
    <Confirm title="Add this page?" act="Add page" isSafe onAct={add} onClose={close}>
      <p class="break">
        <bdi>{shared.value}</bdi>
      </p>
      <KnownAddress typed={shared.value} />
    </Confirm>
  );
}

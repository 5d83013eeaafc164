/** The frame: navigation, view, status bars, notices and dialogs. */
import { type ComponentType, Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { connection, session, tryNow } from '../api/client.ts';
import { Icon } from '../ui/icon.tsx';
import { ActButton, Waiting } from '../ui/parts.tsx';
import { AskView } from '../views/ask/ask-view.tsx';
import { JobsView } from '../views/jobs/jobs-view.tsx';
import { MapView } from '../views/map/map-view.tsx';
import { ModelsView } from '../views/models/models-view.tsx';
import { NamesView } from '../views/names/names-view.tsx';
import { PageView } from '../views/page/page-view.tsx';
import { SearchView } from '../views/search/search-view.tsx';
import { SourcesView } from '../views/sources/sources-view.tsx';
import { SystemView } from '../views/system/system-view.tsx';
import { TimeView } from '../views/time/time-view.tsx';
import { TopicsView } from '../views/topics/topics-view.tsx';
import { FillLine } from './filling.tsx';
import { useFocusKept } from './focus.ts';
import { KeysDialog, keysShown, paletteShown, useEscape, useGlobalKeys } from './keys.tsx';
import { Notices } from './notices.tsx';
import { Palette } from './palette.tsx';
import { currentPart, currentView, kept, type LeftBy, linksTo, linkTo, returns, setTitle } from './router.ts';
import { Brand, holder, SignInDialog, SignInPage, SwitchDialog } from './session.tsx';
import { ShareDialog } from './share.tsx';
import { nextTheme, theme } from './theme.ts';
import { viewGroups, views } from './views.ts';

const components: Record<string, ComponentType> = {
  search: SearchView,
  ask: AskView,
  page: PageView,
  time: TimeView,
  topics: TopicsView,
  names: NamesView,
  map: MapView,
  sources: SourcesView,
  jobs: JobsView,
  models: ModelsView,
  system: SystemView,
};

export function Shell() {
  if (session.value === 'out') return <SignInPage />;
  return <Frame />;
}

function Frame() {
  useGlobalKeys();
  useFocusKept();
  const { value: view } = currentView;
  const { value: part } = currentPart;
  const main = useRef<HTMLElement>(null);
  const [isOpen, setOpen] = useState(false);
  const menuButton = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    // A closing menu hides the focused element.
    if (document.activeElement?.closest('#nav')) menuButton.current?.focus();
  };
  const View = components[view] ?? NoSuchView;
  useLayoutEffect(() => {
    // The view may set a better title.
    setTitle(views.find(({ name }) => name === view)?.title ?? (view === 'page' ? 'Page' : 'Page not found'));
    setOpen(false);
  }, [view, part]);
  useArrival(main, view, part);
  useEscape(isOpen, close);
  return (
    <Fragment>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <div class="frame">
        <header class="side">
          <div class="side-top">
            <a href={linkTo('search')} class="brand-link" aria-label="readback: search">
              <Brand />
            </a>
            <button
              ref={menuButton}
              type="button"
              class="icon-button menu-button"
              aria-expanded={isOpen}
              aria-controls="nav"
              aria-label="Menu"
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name={isOpen ? 'x' : 'menu'} />
            </button>
          </div>
          <nav id="nav" class={isOpen ? 'nav nav-open' : 'nav'} aria-label="Views">
            {viewGroups.map((title) => (
              <NavGroup key={title} title={title} current={view} onGo={close} />
            ))}
            <div class="side-end">
              <ThemeButton />
              <button
                type="button"
                class="nav-item nav-quiet"
                onClick={() => {
                  setOpen(false);
                  paletteShown.value = true;
                }}
              >
                <Icon name="search" />
                <span>Go to…</span>
                <kbd>Ctrl K</kbd>
              </button>
              <button
                type="button"
                class="nav-item nav-quiet"
                onClick={() => {
                  keysShown.value = true;
                }}
              >
                <Icon name="keyboard" />
                <span>Keyboard shortcuts</span>
                <kbd>?</kbd>
              </button>
              {holder.value !== null && (
                <p class="holder">
                  Signed in as <bdi>{holder.value.name}</bdi>
                  {holder.value.scopes.includes('write') ? '' : ' · read only'}
                </p>
              )}
            </div>
          </nav>
        </header>
        <main id="main" class={`main main-${view}`} tabIndex={-1} ref={main}>
          {connection.value === 'lost' && (
            <div class="bar bar-warn" role="alert">
              <span class="spinner" aria-hidden="true" />
              <span>The service does not answer. Trying again…</span>
              <ActButton class="button button-small" act={tryNow}>
                Try now
              </ActButton>
            </div>
          )}
          <FillLine />
          {session.value === 'unknown' ? <Waiting /> : <View key={view} />}
        </main>
      </div>
      <Notices />
      <KeysDialog />
      <Palette />
      {session.value === 'expired' && <SignInDialog />}
      {session.value === 'in' && <SwitchDialog />}
      {session.value === 'in' && <ShareDialog />}
    </Fragment>
  );
}

/** New places start at the top; returns restore scroll and focus. */
function useArrival(main: { current: HTMLElement | null }, view: string, part: string): void {
  const isFirst = useRef(true);
  const last = useRef({ view, part, returned: 0 });
  useEffect(() => {
    const { value: returned } = returns;
    const isReturn = returned !== last.current.returned;
    const isOther = view !== last.current.view || part !== last.current.part;
    last.current = { view, part, returned };
    const { current: frame } = main;
    const isBegin = isFirst.current;
    isFirst.current = false;
    if (frame === null || isBegin || !(isReturn || isOther)) return;
    const left = isReturn ? (kept<LeftBy | null>('link') ?? null) : null;
    const top = isReturn ? (kept<number>('scroll') ?? 0) : 0;
    const isThere = () => {
      const target = left === null ? undefined : linksTo(left.href)[left.at];
      target?.focus({ preventScroll: true });
      scrollTo(0, top);
      return Math.abs(scrollY - top) < 1 && (left === null || target !== undefined);
    };
    // Screen readers start at the new view; the search box focuses itself.
    const isTaken = frame !== document.activeElement && frame.contains(document.activeElement);
    if (isOther && !isTaken && (isReturn || view !== 'search')) frame.focus({ preventScroll: true });
    if (isThere()) return;
    // The content comes in parts, and not all of them add height.
    const stop = () => {
      observer.disconnect();
      for (const event of byHand) removeEventListener(event, stop);
    };
    let focused = document.activeElement;
    const observer = new MutationObserver(() => {
      const { activeElement: now, body } = document;
      // The user has focused something else.
      if ((now !== focused && now !== body) || isThere()) stop();
      focused = document.activeElement;
    });
    for (const event of byHand) addEventListener(event, stop, { once: true });
    observer.observe(frame, { childList: true, subtree: true });
    return stop;
  }, [view, part, returns.value]);
}

/** Signs of user input. */
const byHand = ['wheel', 'pointerdown', 'keydown', 'touchstart'] as const;

interface NavGroupProps {
  title: string;
  current: string;
  /** Also called for a link to the current view. */
  onGo: () => void;
}

function NavGroup({ title, current, onGo }: NavGroupProps) {
  const entries = views.filter(({ group }) => group === title);
  return (
    <div class="nav-group">
      <h2 class="nav-title">{title}</h2>
      <ul>
        {entries.map(({ name, title: label, icon }) => (
          <li key={name}>
            <a href={linkTo(name)} class="nav-item" aria-current={name === current ? 'page' : undefined} onClick={onGo}>
              <Icon name={icon} />
              <span>{label}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

const themeWords = { system: 'System theme', light: 'Light', dark: 'Dark' };
const themeIcons = { system: 'system_theme', light: 'sun', dark: 'moon' } as const;

function ThemeButton() {
  return (
    <button type="button" class="nav-item nav-quiet" onClick={nextTheme} title="Change theme">
      <Icon name={themeIcons[theme.value]} />
      <span>
        <span class="hidden">Theme: </span>
        {themeWords[theme.value]}
      </span>
    </button>
  );
}

function NoSuchView() {
  return (
    <div class="empty">
      <h1>Page not found</h1>
      <p>
        <a href={linkTo('search')}>Search your library</a>
      </p>
    </div>
  );
}

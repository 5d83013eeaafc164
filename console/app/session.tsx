/** Sign-in by a link's one-time code or a token. The service keeps the session. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { OtherLibraryResponse, Scope } from '../../src/domain/access.ts';
import { ApiError, call, epoch, get, probeSession, session, sessionsPath, wordsFor } from '../api/client.ts';
import { Confirm, Dialog } from '../ui/parts.tsx';
import { notify } from './notices.tsx';
import { codeInAddress, go, useTitle } from './router.ts';

interface Holder {
  name: string;
  library: string;
  scopes: Scope[];
}

export const holder = signal<Holder | null>(null);
/** Waiting work of this session: done before its user signs out, otherwise dropped. */
export const waitingWork = { send: async () => {}, drop: () => {} };
/** Other tabs share the session and learn of sign-ins (`in`) and sign-outs (`out`). */
const otherTabs = new BroadcastChannel('readback session');

/** The error of the link's code. */
const codeFault = signal<string | null>(null);
/** A code of another library than the current one: asks first. */
const offered = signal<{ code: string; library: string } | null>(null);
const usedLink = 'This link was used before or has expired. Get a new one.';

/** Use a code in the address at once, also while the page is open; otherwise resume the session. */
export async function begin(): Promise<void> {
  addEventListener('hashchange', ({ oldURL }) => {
    const code = codeInAddress();
    if (code !== null) void enterBy(code, new URL(oldURL).hash);
  });
  otherTabs.onmessage = ({ data }: MessageEvent<'in' | 'out'>) => (data === 'out' ? leaveNothing() : lookAgain());
  addEventListener('visibilitychange', () => {
    if (!document.hidden) void lookAgain();
  });
  const code = codeInAddress();
  if (code === null || !(await enterBy(code, ''))) await resume();
}

/** Sign in by the code in the address, and navigate to `place`. */
async function enterBy(code: string, place: string): Promise<boolean> {
  go(place || '#/search', { replace: true });
  try {
    await signIn({ code, keep_library: true });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) {
      offered.value = { code, library: (error.body as OtherLibraryResponse).library };
      return false;
    }
    codeFault.value = error instanceof ApiError && error.status === 401 ? usedLink : wordsFor(error);
    if (session.value === 'in') tellCodeFault();
    return false;
  }
}

/** Asks before a link switches to another library. */
export function SwitchDialog() {
  if (offered.value === null || holder.value === null) return null;
  const { code, library } = offered.value;
  const switchTo = async () => {
    await waitingWork.send();
    await signIn({ code }).catch((error) => {
      throw error instanceof ApiError && error.status === 401 ? new Error(usedLink, { cause: error }) : error;
    });
  };
  const close = () => {
    offered.value = null;
  };
  return (
    <Confirm title="Switch library?" act="Switch" onAct={switchTo} onClose={close}>
      <p>
        You are signed in to library <bdi>{holder.value.library}</bdi>. Switch to <bdi>{library}</bdi>?
      </p>
    </Confirm>
  );
}

/** Show the code's error although signed in. */
function tellCodeFault(): void {
  if (codeFault.value !== null) notify(codeFault.value, 'error');
  codeFault.value = null;
}

/** Another tab may have signed in since `resume` asked. */
let mayBeOld = false;

async function resume(): Promise<void> {
  mayBeOld = false;
  let who: Holder | null = null;
  try {
    who = await whoIsIn();
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) {
      // Unreachable or not ready; the session is unknown.
      probeSession();
      whenBack(resume);
      return;
    }
  }
  if (mayBeOld) await resume();
  else if (who !== null) {
    tellCodeFault();
    entered(who);
  } else if (session.value === 'unknown') session.value = 'out';
}

/** Another tab may have signed in or out. */
async function lookAgain(): Promise<void> {
  if (session.value === 'unknown') {
    mayBeOld = true; // a running request may get the answer for the previous session
    return;
  }
  try {
    entered(await whoIsIn());
  } catch (error) {
    // Still signed out, so the form stays; a 401 answer ends a session.
    if (!(error instanceof ApiError && error.status === 401)) whenBack(lookAgain);
  }
}

/** Once the service is back. */
function whenBack(run: () => Promise<void>): void {
  const now = epoch.peek();
  const stop = epoch.subscribe((turn) => {
    if (turn === now) return;
    queueMicrotask(() => stop());
    void run();
  });
}

async function signIn(proof: { code: string; keep_library?: true } | { token: string }): Promise<void> {
  const who = await call<Holder>('POST', sessionsPath, { body: proof });
  otherTabs.postMessage('in');
  entered(who);
}

/** The session's user. Errors: as of `call`. */
async function whoIsIn(): Promise<Holder> {
  const { sessions } = await get<{ sessions: (Holder & { current: boolean })[] }>(sessionsPath);
  const own = sessions.find(({ current }) => current);
  if (own === undefined) throw new ApiError(401, 'the session has ended', null);
  return own;
}

function entered(who: Holder): void {
  const { value: before } = holder;
  if (before !== null && (before.library !== who.library || before.name !== who.name)) {
    leaveNothing();
    return;
  }
  holder.value = who;
  const goesOn = session.value === 'expired';
  session.value = 'in';
  codeFault.value = null;
  if (goesOn) epoch.value++;
}

export async function signOut(): Promise<void> {
  await waitingWork.send();
  await call('DELETE', `${sessionsPath}/current`);
  otherTabs.postMessage('out');
  leaveNothing();
}

/** Reloads the page, so that the next user sees nothing of the previous one, even with the back button. */
function leaveNothing(): void {
  waitingWork.drop();
  go('#/search', { replace: true });
  location.reload();
}

export const mayWrite = (): boolean => holder.value?.scopes.includes('write') ?? false;

/** The page while signed out. */
export function SignInPage() {
  useTitle('Sign in');
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <Brand />
        <h1>Sign in to your library</h1>
        <SignInForm />
      </div>
    </main>
  );
}

/** Typing ends this long after the last key, ms. */
const typingMs = 600;

/** Covers the view after its session has ended, once typing ends. */
export function SignInDialog() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const show = () => setShown(true);
    let resting = setTimeout(show, typingMs);
    const wait = () => {
      clearTimeout(resting);
      resting = setTimeout(show, typingMs);
    };
    addEventListener('keydown', wait, { capture: true });
    return () => {
      clearTimeout(resting);
      removeEventListener('keydown', wait, { capture: true });
    };
  }, []);
  if (!isShown) return null;
  return (
    <Dialog title="Your session has ended" onClose={null}>
      <p class="quiet">Sign in again to continue.</p>
      <SignInForm />
    </Dialog>
  );
}

function SignInForm() {
  const [token, setToken] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    addEventListener('focus', lookAgain);
    return () => removeEventListener('focus', lookAgain);
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = token.trim();
    if (given === '') return;
    setBusy(true);
    setFault(null);
    try {
      await signIn(/^\S*#code=\S+$/.test(given) ? { code: given.replace(/^.*#code=/, '') } : { token: given });
    } catch (error) {
      setFault(
        error instanceof ApiError && error.status === 401
          ? 'The service does not know this token or code.'
          : wordsFor(error),
      );
    } finally {
      setBusy(false);
    }
  };
  const said = fault ?? codeFault.value;
  return (
    <form onSubmit={submit} class="stack">
      <ol class="steps">
        <li>
          <span>
            In a terminal: <code>readback open</code>, or in its folder <code>npm run -s readback -- open</code>
          </span>
        </li>
        <li>Open the link that it prints, in this browser. It works once, for a minute.</li>
      </ol>
      <div class="or">
        <span>or</span>
      </div>
      <label class="field">
        <span>Access token</span>
        <input
          type="password"
          name="token"
          autocomplete="current-password"
          value={token}
          aria-invalid={said !== null}
          aria-describedby={said === null ? undefined : 'sign-in-fault'}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      {said !== null && (
        <p id="sign-in-fault" class="fault" role="alert">
          {said}
        </p>
      )}
      <button type="submit" class="button button-primary" disabled={busy || token.trim() === ''}>
        {busy ? 'Signing in…' : 'Sign in'}
      </button>
      <p class="hint">The first start writes a token to the file “token” in the data folder.</p>
    </form>
  );
}

export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" class="brand-mark" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path class="brand-page" d="M9 8.5h10.500a4.500 4.500 0 0 1 0 9H9z" />
        <path class="brand-line" d="M9 20h9" />
        <path class="brand-rest" d="M9 25h5" />
      </svg>
      readback
    </span>
  );
}

/** Data of a view: loaded when it is opened and when its dependencies change, and again when the service is back. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { epoch, get, isAbort } from './client.ts';

export interface Loaded<Data> {
  /** What was loaded last; stays while the next is on its way. */
  data: Data | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
  /** Show something else at once, as after a change that the service has confirmed. */
  set: (change: (data: Data) => Data) => void;
}

interface State<Data> {
  data: Data | undefined;
  error: unknown;
  loading: boolean;
}

/** `deps` as of an effect; null as one of them loads nothing yet. */
export function useLoad<Data>(load: (signal: AbortSignal) => Promise<Data>, deps: readonly unknown[]): Loaded<Data> {
  const [state, setState] = useState<State<Data>>({ data: undefined, error: undefined, loading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const waits = deps.includes(null);
  useEffect(() => {
    if (waits) return;
    const controller = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    latest.current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data, error: undefined, loading: false });
      },
      (error) => {
        if (!controller.signal.aborted && !isAbort(error)) setState(({ data }) => ({ data, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [...deps, turn, epoch.value]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const set = useCallback(
    (change: (data: Data) => Data) =>
      setState((before) => (before.data === undefined ? before : { ...before, data: change(before.data) })),
    [],
  );
  return { ...state, reload, set };
}

/** A part of the console that is loaded when it is first needed. Errors: as of `call`; one in words where the service has parts of another version by now. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    await get('/v1/whoami'); // where the service is away, this says so, and the part is asked for again
    throw new Error('The service has a newer console than this page. Load the page again.', { cause });
  }
}

/** Load again every `everyMs` while `isOn` and the page is looked at; what is still on its way is waited for. */
export function useRepeat(
  loads: readonly Pick<Loaded<unknown>, 'loading' | 'reload'>[],
  everyMs: number,
  isOn: boolean,
): void {
  const latest = useRef(loads);
  latest.current = loads;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      for (const { loading, reload } of latest.current) if (!loading) reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isOn]);
}

/** Loads a view's data when it opens, when its inputs change, and when the service is back. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { connection, epoch, get, isAbort } from './client.ts';

export interface Loaded<Data> {
  /** The last data; stays while reloading. */
  data: Data | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
  /** Replace the data, for example after a confirmed change. */
  set: (change: (data: Data) => Data) => void;
}

interface State<Data> {
  of: readonly unknown[];
  data: Data | undefined;
  error: unknown;
  loading: boolean;
}

const nothingOf = (of: readonly unknown[]) => ({ of, data: undefined, error: undefined, loading: true });
const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean => a.every((each, at) => each === b[at]);

/**
 * Effect dependencies; null in either list waits. `of`: what is loaded; data of another value are never returned.
 * `part`: a part of it; the previous part stays until the next has loaded.
 */
export function useLoad<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  of: readonly unknown[],
  part: readonly unknown[] = [],
): Loaded<Data> {
  const [state, setState] = useState<State<Data>>(nothingOf(of));
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const waits = of.includes(null) || part.includes(null);
  useEffect(() => {
    if (waits) return;
    const controller = new AbortController();
    setState((before) => (isSame(before.of, of) ? { ...before, loading: true } : nothingOf(of)));
    latest.current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ of, data, error: undefined, loading: false });
      },
      (error) => {
        if (!controller.signal.aborted && !isAbort(error))
          setState(({ data }) => ({ of, data, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [...of, ...part, turn, epoch.value]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const set = useCallback(
    (change: (data: Data) => Data) =>
      setState((before) => (before.data === undefined ? before : { ...before, data: change(before.data) })),
    [],
  );
  const { data, error, loading } = isSame(state.of, of) ? state : nothingOf(of);
  return { data, error, loading, reload, set };
}

/** Load a part of the console on demand. Errors: as of `call`; a sentence if the service has another version. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    await get('/v1/whoami'); // if the service is away, this call reports it and reloads the part later
    throw new Error('The service has a newer version of the console. Reload the page.', { cause });
  }
}

/** Reload every `everyMs` while `isOn` and the page is visible; waits for a running load. */
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
      if (document.hidden || connection.peek() === 'lost') return; // the return of the service reloads it
      for (const { loading, reload } of latest.current) if (!loading) reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isOn]);
}

/** Data of a view: loaded when it is opened and when what it is of changes, and again when the service is back. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { epoch, get, isAbort } from './client.ts';

export interface Loaded<Data> {
  /** What was loaded last of the same; stays while it is loaded again. */
  data: Data | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
  /** Show something else at once, as after a change that the service has confirmed. */
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
 * Both lists as those of an effect; null in one of them loads nothing yet. `of`: what is loaded; data of something else are never given back.
 * `part`: how much or which part of it; the part before stays until the next is there.
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

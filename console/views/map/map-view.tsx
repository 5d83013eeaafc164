/** The map is loaded when it is first opened. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Fault } from '../../ui/parts.tsx';

export function MapView() {
  const [Loaded, setLoaded] = useState<ComponentType | null>(null);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    import('./page-map.tsx').then(({ PageMap }) => setLoaded(() => PageMap), setError);
  }, []);
  if (Loaded !== null) return <Loaded />;
  return error === undefined ? <div class="waiting" aria-busy="true" /> : <Fault error={error} />;
}

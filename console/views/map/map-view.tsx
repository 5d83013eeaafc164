/** The map is loaded when it is first opened. */
import { loadPart, useLoad } from '../../api/load.ts';
import { Waiting } from '../../ui/parts.tsx';

export function MapView() {
  const { data, error, reload } = useLoad(() => loadPart(() => import('./page-map.tsx')), []);
  if (data !== undefined) return <data.PageMap />;
  return <Waiting error={error} retry={reload} />;
}

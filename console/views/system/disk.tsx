/** Disk usage by part, and free space. */
import type { DiskPart, DiskResponse } from '../../../src/domain/admin.ts';
import { get } from '../../api/client.ts';
import { useLoad, useRepeat } from '../../api/load.ts';
import { bytes, percent } from '../../ui/format.ts';
import { Fault } from '../../ui/parts.tsx';

const lookAgainMs = 60_000;
/** Below this free share a warning appears. */
const littleFree = 0.05;

const partWords: Record<DiskPart, { name: string; what: string; hue: number }> = {
  store: { name: 'Store', what: 'texts, vectors, jobs', hue: 7 },
  words: { name: 'Words', what: 'index', hue: 1 },
  passage_vectors: { name: 'Vectors of passages', what: 'index', hue: 4 },
  page_vectors: { name: 'Vectors of pages', what: 'index', hue: 9 },
  other: { name: 'Other', what: 'temporary files, replaced stores', hue: 3 },
};

export function Disk() {
  const disk = useLoad((signal) => get<DiskResponse>('/v1/admin/disk', {}, signal), []);
  const { data, error, reload } = disk;
  useRepeat([disk], lookAgainMs, true);
  return (
    <section class="block" aria-labelledby="disk">
      <h2 id="disk">Disk</h2>
      <Fault error={error} retry={reload} />
      {data !== undefined && <Usage usage={data} />}
    </section>
  );
}

function Usage({
  usage: { dir, parts, store_used_bytes, store_max_bytes, free_bytes, disk_bytes },
}: {
  usage: DiskResponse;
}) {
  const all = parts.reduce((sum, part) => sum + part.bytes, 0);
  let before = 0;
  return (
    <>
      <p class="quiet break">
        {bytes(all)} in <bdi>{dir}</bdi>
      </p>
      <svg class="disk-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ part, bytes: size }) => {
          const x = before;
          before += (100 * size) / Math.max(all, 1);
          return <rect key={part} class={`hue-${partWords[part].hue}`} x={x} width={before - x} height="4" />;
        })}
      </svg>
      <dl class="disk-parts">
        {parts.map(({ part, bytes: size }) => (
          <div key={part}>
            <dt>
              <span class={`map-dot hue-${partWords[part].hue}`} />
              {partWords[part].name} <span class="quiet">{partWords[part].what}</span>
            </dt>
            <dd class="numbers">{bytes(size)}</dd>
          </div>
        ))}
      </dl>
      <p class={free_bytes / disk_bytes < littleFree ? 'disk-free row-error' : 'disk-free'}>
        {bytes(free_bytes)} of the disk’s {bytes(disk_bytes)} are free ({percent(free_bytes / disk_bytes)}).
        {store_max_bytes !== null &&
          ` The store may take ${bytes(store_max_bytes)}; ${bytes(store_used_bytes)} are in use.`}
      </p>
    </>
  );
}

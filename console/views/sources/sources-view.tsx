/** Sources: imported files, watched feeds, single addresses. */
import { mayWrite } from '../../app/session.tsx';
import { ViewHead } from '../../ui/parts.tsx';
import { AddAddress } from '../search/landing.tsx';
import { Imports } from './imports.tsx';
import { Watches } from './watches.tsx';

export function SourcesView() {
  return (
    <div class="view">
      <ViewHead title="Sources" lead="Where your pages come from." />
      <Imports />
      <Watches />
      {mayWrite() && (
        <section class="block" aria-label="A single page">
          <AddAddress added={() => undefined} label="One page, by its address" />
        </section>
      )}
    </div>
  );
}

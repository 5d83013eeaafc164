/** Names that would be merged automatically in a library whose pages are these. */
import { canonicalForm, variantForm } from '../../src/commands/entity-trees.ts';
import type { MentionedName } from '../../src/compute/text/page-names.ts';

export function mergedNames(pages: readonly MentionedName[][]) {
  const counts = new Map<string, { type: string; key: string; forms: Map<string, number> }>();
  for (const { type, key, forms } of pages.flat()) {
    const name = counts.get(`${type} ${key}`) ?? { type, key, forms: new Map<string, number>() };
    for (const [form, places] of forms) name.forms.set(form, (name.forms.get(form) ?? 0) + places.length / 2);
    counts.set(`${type} ${key}`, name);
  }
  const groups = new Map<string, string[]>();
  for (const { type, key, forms } of counts.values()) {
    const sorted = [...forms].sort(([, a], [, b]) => b - a);
    const row = { no: 0, type, key, forms: sorted, page_count: 1, parent: 0, children: [], tree_pages: 0 };
    const form = variantForm(row);
    const merges = form === null ? undefined : `${type} ${form}`;
    if (merges !== undefined) groups.set(merges, [...(groups.get(merges) ?? []), canonicalForm(row)]);
  }
  const merged = [...groups.values()].filter(({ length }) => length > 1);
  return { names: counts.size, merges: merged.reduce((sum, { length }) => sum + length - 1, 0), merged };
}

/** Prefixes that models were trained with. Servers of open models do not add them. Source: the models' own cards. */
import list from '../../models/model-prefixes.json' with { type: 'json' };

export type InputType = 'query' | 'document';
type Prefixes = Readonly<Record<InputType, string>>;

const none: Prefixes = { query: '', document: '' };

/** The first match counts. */
const families = list.map(({ model, ...prefixes }) => [new RegExp(model), prefixes] as const);

export function prefixesOf(model: string): Prefixes {
  const name = model.toLowerCase();
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? none;
}

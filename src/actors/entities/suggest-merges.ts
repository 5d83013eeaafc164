/** Suggests merges by edit distance or letters. Compares names of one type that share their start or end. */
import { canonicalForm, pageCountOf, variantForm } from '../../commands/entity-trees.ts';
import { mayBeOne } from '../../commands/merge-entities.ts';
import { editDistance } from '../../compute/text/edit-distance.ts';
import type { Entity, EntitySuggestion } from '../../domain/entity.ts';
import { foldName } from '../../domain/normalize-text.ts';
import { idOf } from '../../domain/values.ts';
import type { EntityReader } from '../../store/entities.ts';
import { inParts, nextTurn } from '../system/background.ts';

export interface SuggestionThresholds {
  cosine_threshold: number;
  edit_distance_threshold: number;
}

/** Rows read, and pairs compared, per turn of the event loop: some ms. */
const rowsPerTurn = 500;
const pairsPerTurn = 1000;
/** Letters that the names of a group share at one end. */
const sharedLetters = 4;
/** Max names of a group: the most mentioned ones are compared with each other. */
const maxGroup = 40;
/** Min length: shorter names are similar to too many others. */
const shortest = 5;

/** Best first. Errors: the signal's reason. */
export async function suggestMerges(
  entities: EntityReader,
  { cosine_threshold, edit_distance_threshold }: SuggestionThresholds,
  limit: number,
  signal?: AbortSignal,
): Promise<EntitySuggestion[]> {
  const groups = new Map<string, Entity[]>();
  const rowsAfter = (after: number) => entities.listAfter(after, rowsPerTurn);
  for await (const rows of inParts(rowsAfter, ({ no }) => no, { signal })) {
    for (const row of rows) {
      const name = foldName(canonicalForm(row));
      if (row.parent !== 0 || name.length < shortest) continue;
      for (const end of [name.slice(0, sharedLetters), `*${name.slice(-sharedLetters)}`]) {
        const group = groups.get(`${row.type} ${end}`);
        if (group === undefined) groups.set(`${row.type} ${end}`, [row]);
        else group.push(row);
      }
    }
  }
  const found = new Map<string, { pair: [Entity, Entity]; nearness: number }>();
  let compared = 0;
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const some = group.sort((a, b) => pageCountOf(b) - pageCountOf(a) || a.no - b.no).slice(0, maxGroup);
    const names = some.map((entity) => foldName(canonicalForm(entity)));
    const letters = names.map(trigramsOf);
    const digits = names.map((name) => name.replace(/\D/g, ''));
    for (let a = 0; a < some.length; a++) {
      for (let b = a + 1; b < some.length; b++) {
        const longer = Math.max(names[a].length, names[b].length);
        // Names that differ in a number are different things.
        if (digits[a] !== digits[b]) continue;
        const cosine = cosineOf(letters[a], letters[b]);
        const most = Math.floor(edit_distance_threshold * longer);
        const distance = editDistance(names[a], names[b], most);
        if (distance > most && cosine < cosine_threshold) continue;
        const pair: [Entity, Entity] = [some[a], some[b]];
        if (areVariants(...pair) || !mayBeOne(entities, ...pair)) continue;
        const key = [some[a].no, some[b].no].sort((x, y) => x - y).join(' ');
        found.set(key, { pair, nearness: cosine - Math.min(1, distance / longer) });
      }
    }
    compared += (some.length * (some.length - 1)) / 2;
    if (compared >= pairsPerTurn) {
      compared = 0;
      await nextTurn(signal);
    }
  }
  return [...found.values()]
    .sort((a, b) => b.nearness - a.nearness || a.pair[0].no - b.pair[0].no)
    .slice(0, limit)
    .map(({ pair: [a, b] }) => ({
      entity_id: idOf('entity', a.no),
      form: canonicalForm(a),
      other_entity_id: idOf('entity', b.no),
      other_form: canonicalForm(b),
      type: a.type,
    }));
}

/** Variants are merged without a suggestion. */
const areVariants = (a: Entity, b: Entity) => variantForm(a) !== null && variantForm(a) === variantForm(b);

function trigramsOf(name: string): Map<string, number> {
  const counts = new Map<string, number>();
  const padded = ` ${name} `;
  for (let at = 0; at + 3 <= padded.length; at++) {
    const three = padded.slice(at, at + 3);
    counts.set(three, (counts.get(three) ?? 0) + 1);
  }
  return counts;
}

function cosineOf(a: Map<string, number>, b: Map<string, number>): number {
  let dot = 0;
  for (const [three, count] of a) dot += count * (b.get(three) ?? 0);
  const length = (of: Map<string, number>) => Math.hypot(...of.values());
  return dot / (length(a) * length(b));
}

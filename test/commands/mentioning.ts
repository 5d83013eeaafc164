/** Pages that mention given names, as the encoder would have found them. */
import { storePageEntities } from '../../src/commands/page-entities.ts';
import type { MentionedName } from '../../src/compute/text/page-names.ts';
import { foldName } from '../../src/domain/normalize-text.ts';
import type { Command } from '../../src/store/store.ts';

/** Make a page mention these, `type: name`, one mention each in turn; gives the number of new entities. */
export function mentioning(pageNo: number, ...names: string[]): Command<number> {
  return (transaction) => {
    let at = 0;
    const found: MentionedName[] = [];
    for (const each of names) {
      const [type, name] = each.split(': ') as [MentionedName['type'], string];
      const key = foldName(name);
      let known = found.find((other) => other.type === type && other.key === key);
      if (known === undefined) {
        known = { type, key, forms: [] };
        found.push(known);
      }
      const form = known.forms.find(([spelling]) => spelling === name);
      if (form === undefined) known.forms.push([name, [at, at + name.length]]);
      else form[1].push(at, at + name.length);
      at += name.length + 1;
    }
    return storePageEntities(transaction, pageNo, found);
  };
}

/** Pages that mention given names, as the recogniser would have found them. */
import { storePageEntities } from '../../src/commands/page-entities.ts';
import { gatherMentions } from '../../src/compute/entities/gather-mentions.ts';
import type { RecognizedEntity } from '../../src/compute/entities/recognize-entities.ts';
import type { Command } from '../../src/store/store.ts';

/** Make a page mention these, `type: name`, one mention each in turn; gives the number of new entities. */
export function mentioning(pageNo: number, ...names: string[]): Command<number> {
  return (transaction) => {
    let body = '';
    const found: RecognizedEntity[] = [];
    for (const each of names) {
      const [type, name] = each.split(': ') as [RecognizedEntity['type'], string];
      const mention = { start: body.length, end: body.length + name.length };
      body += `${name} `;
      const known = found.find((other) => other.type === type && other.name.toLowerCase() === name.toLowerCase());
      if (known === undefined) found.push({ type, name, mentions: [mention] });
      else known.mentions.push(mention);
    }
    return storePageEntities(transaction, pageNo, gatherMentions(body, found));
  };
}

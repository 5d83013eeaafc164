/** The bits of HTML that feeds hold in their texts. */
import { decodeHTMLStrict } from 'entities';
import { Parser } from 'htmlparser2';

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function escapeAttribute(text: string): string {
  return escapeHtml(text).replace(/"/g, '&quot;');
}

/** Titles hold markup, escaped once or twice: what a person would see of it. A `<` that starts no tag stays. */
export function textOfTitle(title: string): string {
  if (!/[<&]/.test(title)) return title;
  if (!/<\/?[a-z!]/i.test(title)) return decodeHTMLStrict(title);
  let text = '';
  const parser = new Parser({ ontext: (part) => (text += part) }, { decodeEntities: true });
  parser.write(title);
  parser.end();
  return text;
}

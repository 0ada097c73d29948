import type { TemplateSource } from '../../src/template/template-source.ts';
import { fieldNames } from '../bench-account.ts';

const links = ['orders', 'returns', 'help', 'account', 'shop'];

const rows = fieldNames
  .map((name) => `<tr><td style="padding:4px">${name}</td><td>{{${name}}}</td></tr>`)
  .join('\n');
const footer = links
  .map((name) => `<a href="https://shop.test/${name}?from=mail">${name}</a>`)
  .join(' | ');
const paragraph =
  '<p>Thank you for your order. We pack it today and tell you as soon as it leaves our house.</p>';

/** The measured message: ten fields, five links, about four kilobytes. */
export const letter: TemplateSource = {
  subject: 'Your order {{Order Number}}',
  previewText: 'Thank you, {{First Name}}',
  html: `<html><body>${paragraph.repeat(8)}<table>${rows}</table>${paragraph.repeat(4)}<p>${footer}</p></body></html>`,
};

/** Ten values that no other message has. */
export function letterValues(number: number): Record<string, string> {
  return Object.fromEntries(
    fieldNames.map((name, index) => [name, `${name} of letter ${number * 10 + index}`]),
  );
}

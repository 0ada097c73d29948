import type { EmailAddress } from '../../src/base/values/email-address.ts';
import { newMessageId } from '../../src/base/values/ids.ts';
import { composeMime } from '../../src/content/rendering/compose-mime.ts';
import { loadTemplate } from '../../src/content/rendering/load-template.ts';
import { renderMessage } from '../../src/content/rendering/render-message.ts';
import { compileTemplate } from '../../src/content/template/template-compiler.ts';
import type { TemplateSource } from '../../src/content/template/template-source.ts';
import { distinctValues, fieldNames } from '../bench-account.ts';

const rows = fieldNames
  .map((name) => `<tr><td style="padding:4px">${name}</td><td>{{${name}}}</td></tr>`)
  .join('\n');
const footer = ['orders', 'returns', 'help', 'account', 'shop']
  .map((name) => `<a href="https://shop.test/${name}?from=mail">${name}</a>`)
  .join(' | ');
const paragraph =
  '<p>Thank you for your order. We pack it today and tell you as soon as it leaves our house.</p>';

/** The measured message: ten fields, five links, about 4 kB. */
export const letter: TemplateSource = {
  subject: 'Your order {{Order Number}}',
  previewText: 'Thank you, {{First Name}}',
  html: `<html><body>${paragraph.repeat(8)}<table>${rows}</table>${paragraph.repeat(4)}<p>${footer}</p></body></html>`,
};

/** @returns renders the letter with values that no other message has */
export async function compileLetter() {
  const { compiled } = await compileTemplate(letter);
  if (compiled === null) throw new Error('the letter does not compile');
  const template = loadTemplate(compiled);
  return (number: number) => renderMessage(template, { values: distinctValues(number, 'letter') });
}

/** The letter as the service composes it, unsigned, with line feeds as `smtp-source` expects. */
export async function composeLetter(): Promise<string> {
  const render = await compileLetter();
  const { raw } = composeMime(
    render(1),
    {
      from: { address: 'orders@shop.test' as EmailAddress, displayName: 'Demo Shop' },
      to: [{ address: 'reader@example.test' as EmailAddress }],
    },
    { messageId: newMessageId(), acceptedAt: new Date() },
  );
  return raw.toString('latin1').replaceAll('\r\n', '\n');
}

import { writeFile } from 'node:fs/promises';
import type { EmailAddress } from '../../src/foundation/email-address.ts';
import { newMessageId } from '../../src/foundation/ids.ts';
import { composeMime } from '../../src/rendering/compose-mime.ts';
import { loadTemplate } from '../../src/rendering/load-template.ts';
import { renderMessage } from '../../src/rendering/render-message.ts';
import { compileTemplate } from '../../src/template/compile-template.ts';
import { letter, letterValues } from './letter.ts';

/** Writes the letter as the service composes it, unsigned and with line feeds as `smtp-source` wants it; returns the path. */
export async function writeLetterFile(path: string): Promise<string> {
  const { compiled } = await compileTemplate(letter);
  if (compiled === null) throw new Error('the letter does not compile');
  const { raw } = composeMime(
    renderMessage(loadTemplate(compiled), { values: letterValues(1) }),
    {
      from: { address: 'orders@shop.test' as EmailAddress, displayName: 'Demo Shop' },
      to: 'reader@example.test' as EmailAddress,
    },
    { messageId: newMessageId(), acceptedAt: new Date() },
  );
  await writeFile(path, raw.toString('latin1').replaceAll('\r\n', '\n'));
  return path;
}

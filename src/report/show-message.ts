import { readContent } from '../delivery/deliverable-content.ts';
import type { FindVersion } from '../delivery/prepare-mail.ts';
import type { AccountId, TemplateId } from '../foundation/ids.ts';
import { renderMessage } from '../rendering/render-message.ts';

/** Stands in place of values of secret fields. */
const masked = '••••••';

export interface ShownMessage {
  readonly from: { readonly address: string; readonly name?: string };
  readonly to: string;
  readonly cc: readonly string[];
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

/**
 * The message as it was sent, from its frozen template version and values, without tracking; values of secret fields are
 * masked. Undefined where its content was erased or the version is gone.
 */
export async function showMessage(
  findVersion: FindVersion,
  accountId: AccountId,
  message: {
    readonly template_id: string;
    readonly template_version: number;
    readonly content: unknown;
  },
): Promise<ShownMessage | undefined> {
  const content = readContent(message.content);
  const template = await findVersion(
    accountId,
    message.template_id as TemplateId,
    message.template_version,
  );
  if (content === undefined || template === undefined) return undefined;
  const secrets = template.compiled.fields.filter((field) => field.secret);
  const values = {
    ...content.values,
    ...Object.fromEntries(secrets.map(({ name }) => [name, masked])),
  };
  const { subject, html, text } = renderMessage(template, {
    values,
    subjectLine: content.subjectLine,
    previewText: content.previewText,
  });
  const [to = '', ...cc] = content.recipients;
  return { from: content.from, to, cc, subject, html, text };
}

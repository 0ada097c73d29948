import type { TemplateId } from '../../../base/values/ids.ts';
import { mask } from '../../../content/message/mask-values.ts';
import {
  hiddenOf,
  type StoredContent,
  visibleCc,
} from '../../../content/message/message-content.ts';
import { secretNamesOf } from '../../../content/template/secret-names.ts';
import { accountOf, type OperationCall } from '../operation.ts';

/** Content as the management API shows it. */
export type ContentView = Omit<StoredContent, 'bccCount' | 'archive'> & {
  readonly bcc?: StoredContent['cc'];
};

/** Masks secret values and separates Cc from Bcc. Null if the content was erased; erased values are null. */
export function maskContent(
  content: StoredContent | null,
  secret: ReadonlySet<string>,
): ContentView | null {
  if (content === null) return null;
  const values = Object.entries(content.values).map(([name, value]) => [
    name,
    value !== null && secret.has(name) ? mask : value,
  ]);
  const { bccCount: _, archive: __, ...shown } = { ...content, values: Object.fromEntries(values) };
  const bcc = hiddenOf(content);
  if (bcc.length === 0) return shown;
  return content.cc === undefined ? { ...shown, bcc } : { ...shown, cc: visibleCc(content), bcc };
}

/** Names of the values of a message that are secret. */
export async function findSecretNames(
  call: OperationCall,
  message: { readonly template_id: string; readonly template_version: number },
): Promise<ReadonlySet<string>> {
  const template = await call.dependencies.templates.version(
    accountOf(call).id,
    message.template_id as TemplateId,
    message.template_version,
  );
  return new Set(template && secretNamesOf(template.compiled));
}

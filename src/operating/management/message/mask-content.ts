import type { MessageId, TemplateId } from '../../../base/values/ids.ts';
import { mask } from '../../../content/message/mask-values.ts';
import {
  hiddenOf,
  type StoredContent,
  visibleCc,
} from '../../../content/message/message-content.ts';
import { secretNamesOf } from '../../../content/template/secret-names.ts';
import { readSubjects } from '../../../outcomes/report/read-subjects-store.ts';
import type { OperationCall } from '../operation.ts';

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
    call.params.accountId,
    message.template_id as TemplateId,
    message.template_version,
  );
  return new Set(template && secretNamesOf(template.compiled));
}

/** A message and the version it was accepted with; null once erased. */
interface SubjectOwner {
  readonly messageId: MessageId;
  readonly templateId: string | null;
  readonly templateVersion: number | null;
}

/** Reads the subjects of messages of the call's account. @returns that of one; null once what it is made of is erased */
export async function readSubjectsOf(
  call: OperationCall,
  owners: readonly SubjectOwner[],
): Promise<(messageId: MessageId) => string | null> {
  const { accountId } = call.params;
  const refs = owners.flatMap(({ messageId: id, templateId, templateVersion: version }) =>
    templateId === null || version === null
      ? []
      : [{ accountId, id, templateId: templateId as TemplateId, version }],
  );
  const subjects = await readSubjects(call.kysely, call.dependencies.templates, refs);
  return (messageId) => subjects.get(messageId)?.text ?? null;
}

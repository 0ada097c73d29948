import { parseMessageId } from '../../foundation/ids.ts';
import { readMessageStatus } from '../../message/message-status-store.ts';
import type { FieldValue } from '../../template/field-value.ts';
import { invalidField, Problem } from '../answer/problem.ts';
import { findSecretNames } from '../message/mask-content.ts';
import { accountOf, type OperationCall } from '../operation.ts';
import type { VersionContent } from './template-views.ts';

/**
 * The values of a message, for a preview of its template: without those that were erased, and those of fields that are secret in
 * its version or in the previewed content.
 * @throws Problem if the caller can't read messages, or the template has no such message
 */
export async function readPastValues(
  call: OperationCall,
  messageIdText: string,
  { fields = {} }: VersionContent,
): Promise<Record<string, FieldValue>> {
  await call.requirePermission('messages:read');
  const { kysely } = call.dependencies.database;
  const { id: accountId } = accountOf(call);
  const { templateId } = call.params;
  const messageId = parseMessageId(messageIdText);
  const found = messageId && (await readMessageStatus(kysely, accountId, messageId));
  if (found === undefined || found.message.template_id !== templateId)
    throw invalidField('messageId', 'must be a message of this template');
  const { content } = found.message;
  if (content === null) throw new Problem('conflict', 'The content of this message was erased');
  const secret = await findSecretNames(call, found.message);
  const values = Object.entries(content.values).filter(
    (entry): entry is [string, FieldValue] =>
      entry[1] !== null && !secret.has(entry[0]) && !isSecret(fields, entry[0]),
  );
  return Object.fromEntries(values);
}

function isSecret(fields: NonNullable<VersionContent['fields']>, name: string): boolean {
  return Object.hasOwn(fields, name) && fields[name]?.secret === true;
}

import { type EmailAddress, normalizeAddress } from '../foundation/email-address.ts';
import type { CompiledField } from '../template/compiled-template.ts';
import type { ParsedSendRequest } from './send-request.ts';

/**
 * The request with the account's own copy for its archive address, unless that gets the message anyway or the template has secret fields, whose values only the recipient may read.
 */
export function addArchiveCopy(
  request: ParsedSendRequest,
  archiveAddress: EmailAddress,
  fields: readonly Pick<CompiledField, 'secret'>[],
): ParsedSendRequest {
  const archive = normalizeAddress(archiveAddress);
  const recipients = [request.to, ...request.cc, ...request.bcc];
  if (recipients.some((address) => normalizeAddress(address) === archive)) return request;
  if (fields.some(({ secret }) => secret)) return request;
  return { ...request, archive: archiveAddress };
}

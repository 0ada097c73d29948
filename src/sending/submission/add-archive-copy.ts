import { type EmailAddress, normalizeAddress } from '../../base/values/email-address.ts';
import type { CompiledTemplate } from '../../content/template/compiled-template.ts';
import { hasSecrets } from '../../content/template/secret-names.ts';
import type { ParsedSendRequest } from './send-request.ts';

/**
 * The request with the account's own copy for its archive address if it has one, unless that gets the message anyway or has secret fields, whose
 * values only the recipient may read.
 * @param template undefined for a complete message
 */
export function addArchiveCopy(
  request: ParsedSendRequest,
  archiveAddress: EmailAddress | undefined,
  template?: CompiledTemplate,
): ParsedSendRequest {
  if (archiveAddress === undefined) return request;
  const archive = normalizeAddress(archiveAddress);
  const recipients = [request.to, ...request.cc, ...request.bcc];
  if (recipients.some((address) => normalizeAddress(address) === archive)) return request;
  if (template !== undefined && hasSecrets(template, request.values)) return request;
  return { ...request, archive: archiveAddress };
}

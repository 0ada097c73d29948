import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { domainOf, normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { readSender } from '../../sender/sender-store.ts';
import { hasVerifiedDomain } from '../../sender/sending-domain-store.ts';
import { invalidField } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';

/**
 * Requires that the account has proven to read a new address that its mail or its notices go to: by a link, as for a sender, or
 * by its domain.
 * @param before the address that stays allowed
 * @throws Problem that names the field
 */
export async function requireProvenAddress(
  { params: { accountId } }: Pick<OperationCall, 'params'>,
  transaction: DatabaseTransaction,
  field: string,
  {
    given = '',
    before,
  }: { readonly given: string | undefined; readonly before: string | undefined },
): Promise<void> {
  const parsed = parseEmailAddress(given);
  // What isn't an address is refused with its own reason.
  if (given === before || !parsed.ok) return;
  const { address } = parsed;
  const sender = await readSender(transaction, accountId, normalizeAddress(address));
  if (sender?.verified === true) return;
  if (await hasVerifiedDomain(transaction, accountId, domainOf(address))) return;
  throw invalidField(
    field,
    'isn’t confirmed. Verify its domain under Domains, or add it under Senders and open the link that is sent to it, then set it',
  );
}

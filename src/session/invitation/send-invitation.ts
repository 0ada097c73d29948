import { hashToken, TokenMint } from '../../access/token-mint.ts';
import { findPersonByEmail } from '../../account/person-store.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import { newId } from '../../foundation/ids.ts';
import type { MasterKey } from '../../foundation/master-key.ts';
import { MailedLinks } from '../../outbox/mailed-links.ts';
import { enqueueAccountLink } from '../../outbox/system-mail-store.ts';
import { type NewInvitation, saveInvitation } from './invitation-store.ts';

/** An invitation with the inviter to show in its email. */
export interface InvitationMail extends NewInvitation {
  readonly inviter: { readonly name: string; readonly email: string };
}

export type InvitationOutcome = 'sent' | 'too-soon';

/**
 * Saves an invitation and its email in the caller's transaction. Replaces an earlier link for the same address.
 * @throws BudgetUsedUp if the account or the address had too many links
 */
export async function sendInvitation(
  transaction: Database['kysely'],
  key: MasterKey,
  { inviter, ...invitation }: InvitationMail,
): Promise<InvitationOutcome> {
  const { accountId, email, role } = invitation;
  const id = newId();
  const hash = hashToken(new TokenMint(key).wrap('link', new MailedLinks(key).token(id)));
  if (!(await saveInvitation(transaction, invitation, hash))) return 'too-soon';
  await enqueueAccountLink(transaction, {
    id,
    kind: 'invitation',
    accountId,
    toAddress: email,
    // New people get the inviter's language until they choose one.
    personId: (await findPersonByEmail(transaction, email))?.id ?? invitation.invitedBy,
    facts: { role, inviter: inviter.name, inviterEmail: inviter.email },
  });
  return 'sent';
}

import { hashToken, TokenMint } from '../../access/token-mint.ts';
import { findPersonByEmail } from '../../account/person-store.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import { newId } from '../../foundation/ids.ts';
import type { MasterKey } from '../../foundation/master-key.ts';
import { MailedLinks } from '../../outbox/mailed-links.ts';
import { enqueueSystemMail } from '../../outbox/system-mail-store.ts';
import {
  countInvitations,
  maxInvitationsPerAddressPerDay,
  maxInvitationsPerDay,
  type NewInvitation,
  saveInvitation,
} from './invitation-store.ts';

/** An invitation with the names to show in its email. */
export interface InvitationMail extends NewInvitation {
  readonly accountName: string;
  readonly inviter: { readonly name: string; readonly email: string };
}

export type InvitationOutcome = 'sent' | 'too-soon' | 'too-many' | 'too-many-to-address';

/** Saves an invitation and its email in the caller's transaction. Replaces an earlier link for the same address. */
export async function sendInvitation(
  transaction: Database['kysely'],
  key: MasterKey,
  { accountName, inviter, ...invitation }: InvitationMail,
): Promise<InvitationOutcome> {
  const { accountId, email, role } = invitation;
  const mailed = await countInvitations(transaction, accountId, email);
  if (mailed.all >= maxInvitationsPerDay) return 'too-many';
  if (mailed.toAddress >= maxInvitationsPerAddressPerDay) return 'too-many-to-address';
  const id = newId();
  const hash = hashToken(new TokenMint(key).wrap('link', new MailedLinks(key).token(id)));
  if (!(await saveInvitation(transaction, invitation, hash))) return 'too-soon';
  await enqueueSystemMail(transaction, {
    id,
    kind: 'invitation',
    toAddress: email,
    // New people get the inviter's language until they choose one.
    personId: (await findPersonByEmail(transaction, email))?.id ?? invitation.invitedBy,
    facts: {
      account: accountName,
      accountId,
      role,
      inviter: inviter.name,
      inviterEmail: inviter.email,
    },
  });
  return 'sent';
}

import type { EmailAddress } from '../foundation/email-address.ts';
import type { AttemptNote, AttemptResult, ClaimedMessage, Lease } from '../queue/attempt.ts';
import { addressNeedsSmtpUtf8, deferredResults } from './admit-mail.ts';
import type { RecipientSelection } from './delivery-gates.ts';
import { redirectHeader } from './prepare-mail.ts';
import type { PreparedTransaction } from './prepare-transaction.ts';
import type { DeliveryRoute } from './route-recipients.ts';
import { sendTransactions, type TransactionContext } from './send-transactions.ts';
import type { SendingIdentity } from './sending-identity.ts';
import {
  hasReachedServer,
  type OutgoingMail,
  type SendingAdmission,
  type TransactionResult,
} from './transport.ts';

export interface SendMessageContext {
  readonly message: ClaimedMessage;
  readonly lease: Lease;
  readonly recipients: readonly EmailAddress[];
  readonly selection: RecipientSelection;
  readonly admission: SendingAdmission;
  readonly admitRest: TransactionContext['admitRest'];
  readonly identity: SendingIdentity;
}

/**
 * Runs the admitted transactions.
 * @param preparedFor the mail of a transaction, by the number of its first recipient
 * @returns undefined if the lease was lost
 */
export async function sendMessage(
  { message, lease, recipients, selection, admission, admitRest, identity }: SendMessageContext,
  preparedFor: (first: number) => PreparedTransaction | undefined,
): Promise<AttemptResult | undefined> {
  const { route, untried } = selection;
  const [firstOf] = route.envelope.values();
  const noted = preparedFor(firstOf?.[0] ?? 0)?.notes ?? [];
  // A redirected attempt always says so, because then nothing that comes back is about the recipient.
  const notes = [...(message.attempt === 1 ? noted : []), ...redirectNote(route)];
  let unreached = route.envelope.size;
  const onResult = ({ end }: TransactionResult, to: readonly string[]): void => {
    if (hasReachedServer(end)) unreached -= to.length;
  };
  const makeMail = (to: readonly string[], first: number): OutgoingMail => {
    const prepared = preparedFor(first);
    if (prepared === undefined) throw new Error('a transaction without a prepared mail');
    const form = to.some(addressNeedsSmtpUtf8) ? undefined : prepared.ascii;
    return {
      from: identity.returnPath(message.messageId, first),
      to,
      raw: form ?? prepared.raw,
      group: message.accountId,
      toSevenBit: prepared.toSevenBit,
      // A Bcc address isn't in the text, so it can need the extension even if the text doesn't.
      needsSmtpUtf8:
        (form === undefined && prepared.needsSmtpUtf8) || to.some(addressNeedsSmtpUtf8),
    };
  };
  const result = await sendTransactions(
    { message, lease, route, recipients, notes, onResult, admitRest },
    admission.transactions,
    [...untried, ...deferredResults(admission.postponed, route)],
    makeMail,
  );
  if (unreached > 0) identity.release?.(unreached);
  return result;
}

function redirectNote(route: DeliveryRoute): AttemptNote[] {
  if (!route.redirected) return [];
  return [
    { kind: 'redirected', detail: { reason: 'sent to DELIVERY_REDIRECT', header: redirectHeader } },
  ];
}

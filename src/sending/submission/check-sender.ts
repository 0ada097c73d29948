import type { SenderDirectory } from '../../accounts/sender/sender-directory.ts';
import type { Sender } from '../../accounts/sender/sender-store.ts';
import {
  type EmailAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../base/values/email-address.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { andThen, awaitAll, type MaybePromise } from '../../base/values/maybe-promise.ts';
import type { MessageSender } from '../../content/message/message-content.ts';
import type { SendingCaller } from './admit-caller.ts';
import type { ParsedSendRequest } from './send-request.ts';

/** The validated sender of a message. */
export interface CheckedSender {
  readonly from: MessageSender;
  readonly replyTo: EmailAddress | undefined;
}

/** What a message says about its sender. */
export type SenderRequest = Pick<ParsedSendRequest, 'from' | 'fromDisplayName' | 'replyTo'>;

/** Sources of the From address when the request gives none (section 2.2). */
interface SenderDefaults {
  readonly senderAddress: string | null;
  readonly createdByEmail: string;
}

/** Of a message that isn't made from a template. */
const noDefaults: SenderDefaults = { senderAddress: null, createdByEmail: '' };

/**
 * Section 4.3 rule 4. From is the request's address, else the template's sender, else its creator, and must be a
 * verified sender of the account. Its display name must be registered, and Reply-To must be verified. Test messages can be from
 * any address.
 * @throws Fault SENDER_NOT_ALLOWED with every reason
 */
export function checkSender(
  senders: Pick<SenderDirectory, 'sender'>,
  caller: SendingCaller,
  request: SenderRequest,
  defaults = noDefaults,
): MaybePromise<CheckedSender> {
  const address = request.from ?? defaultAddress(defaults);
  const find = (wanted: EmailAddress) => findSender(senders, caller, wanted);
  const found = awaitAll([find(address), request.replyTo && find(request.replyTo)]);
  return andThen(found, ([sender, replyTo]) => decide(request, address, sender, replyTo));
}

/** The sender with an address, as far as the caller may use it. */
export function findSender(
  senders: Pick<SenderDirectory, 'sender'>,
  { account, isTest }: SendingCaller,
  wanted: EmailAddress,
): MaybePromise<Sender | undefined> {
  const address = normalizeAddress(wanted);
  return andThen(senders.sender(account.id, address), (found) => {
    if (!isTest) return found;
    // The default address of a template needn't be one.
    const verified = parseEmailAddress(wanted).ok;
    return { address, displayNames: [...(found?.displayNames ?? []), anyName], verified };
  });
}

function defaultAddress({ senderAddress, createdByEmail }: SenderDefaults): EmailAddress {
  const text = senderAddress ?? createdByEmail;
  const parsed = parseEmailAddress(text);
  return parsed.ok ? parsed.address : (text as EmailAddress);
}

function decide(
  request: SenderRequest,
  address: EmailAddress,
  sender: Sender | undefined,
  replyTo: Sender | undefined,
): CheckedSender {
  const details: FaultDetail[] = [];
  if (sender?.verified !== true) {
    details.push({ field: 'envelope.fromAddress', reason: describeFromProblem(request, address) });
  }
  const name = chooseName(request.fromDisplayName, sender, details);
  if (request.replyTo !== undefined && replyTo?.verified !== true) {
    details.push({
      field: 'envelope.replyToAddress',
      reason: 'is not a verified sender of this account',
    });
  }
  if (details.length > 0) throw new Fault('SENDER_NOT_ALLOWED', { details });
  return {
    from: name === undefined ? { address } : { address, name },
    replyTo: request.replyTo,
  };
}

function describeFromProblem(request: SenderRequest, address: EmailAddress): string {
  const reason = 'is not a verified sender of this account';
  return request.from === undefined
    ? `was not given, and the template’s own sender, ${address}, ${reason}`
    : reason;
}

const anyName = '*';

function chooseName(
  wanted: string | undefined,
  sender: Sender | undefined,
  details: FaultDetail[],
): string | undefined {
  const names = sender?.displayNames ?? [];
  if (wanted === undefined) return names.find((name) => name !== anyName);
  if (names.includes(wanted) || names.includes(anyName)) return wanted;
  if (sender?.verified === true) {
    details.push({
      field: 'envelope.fromDisplayName',
      reason: 'is not a name registered for this sender',
    });
  }
  return wanted;
}

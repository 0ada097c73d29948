import type { EmailAddress } from '../../base/values/email-address.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { MakeReplyAddress } from './compose-row.ts';
import { unusableField } from './describe-body-problems.ts';
import type { SendDependencies } from './send-dependencies.ts';
import type { ParsedSendRequest } from './send-request.ts';
import { withTimeout } from './with-timeout.ts';

/**
 * The reply addresses of a request's messages; undefined if it doesn't ask for replies.
 * @param from its validated From address
 * @throws Fault VALIDATION_FAILED with what is missing if mail can't come back to this service
 */
export async function prepareReplies(
  { replyAddresses, findReplyHost }: SendDependencies,
  accountId: AccountId,
  { receiveReplies }: Pick<ParsedSendRequest, 'receiveReplies'>,
  from: EmailAddress,
): Promise<MakeReplyAddress | undefined> {
  if (receiveReplies !== true) return undefined;
  const found = await withTimeout(findReplyHost(accountId, from));
  if ('problem' in found) throw unusableField('actions.receiveReplies', found.problem);
  return (messageId) => replyAddresses.make(accountId, messageId, found.host);
}

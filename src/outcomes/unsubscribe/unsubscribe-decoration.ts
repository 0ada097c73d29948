import type { MessageContent } from '../../content/message/message-content.ts';
import { unsubscribeField } from '../../content/template/built-in-fields.ts';
import type { MailDecoration } from '../../sending/delivery/prepare-mail.ts';
import type { ClaimedMessage } from '../../sending/queue/attempt.ts';
import type { UnsubscribeTokens } from './unsubscribe-token.ts';

/**
 * List-Unsubscribe (RFC 2369 section 3.2), List-Unsubscribe-Post (RFC 8058 section 3.1, requires https) and the link
 * field's value. Empty for transactional mail and for mail with Cc, because Cc recipients could
 * unsubscribe the To recipient.
 */
export function unsubscribeDecoration(
  tokens: UnsubscribeTokens,
  base: string,
  message: ClaimedMessage,
  content: MessageContent,
): Pick<MailDecoration, 'headerLines' | 'values'> {
  const { to: address, cc = [] } = content;
  if (message.transactional || cc.length > 0) return { values: { [unsubscribeField]: '' } };
  const link = `${base}/u/${tokens.make({ ...message, address })}`;
  const headerLines = [`List-Unsubscribe:\r\n <${link}>`];
  if (link.startsWith('https:'))
    headerLines.push('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
  return { headerLines, values: { [unsubscribeField]: link } };
}

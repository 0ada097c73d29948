import { TrackingTokens } from '../../src/feedback/tracking/tracking-tokens.ts';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId, MessageId, TemplateId } from '../../src/foundation/ids.ts';
import { testKey } from '../../test/support/test-service.ts';

const tokens = new TrackingTokens(testKey);
const agent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

interface DeliveredMessage {
  readonly accountId: AccountId;
  readonly messageId: MessageId;
  readonly retentionDays: number;
  readonly templateId: TemplateId;
  readonly templateVersion: number;
}

/** Delivered messages of an account, newest first. */
export async function deliveredMessages(
  { kysely }: Database,
  accountId: AccountId,
  limit: number,
): Promise<DeliveredMessage[]> {
  const rows = await kysely
    .selectFrom('message')
    .select(['id as messageId', 'retention_days as retentionDays'])
    .select(['template_id as templateId', 'template_version as templateVersion'])
    .where('account_id', '=', accountId)
    .where('state', '=', 'delivered')
    .where('template_id', 'like', 'history-%')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, accountId }) as DeliveredMessage);
}

export function openTrackingRequest(message: DeliveredMessage): string {
  return browserGet(openImagePath(message));
}

export function openImagePath(message: Parameters<TrackingTokens['makeOpen']>[0]): string {
  return `/o/${tokens.makeOpen(message)}.gif`;
}

/** Follows the first link of the message, which holds a value. */
export function clickTrackingRequest(message: DeliveredMessage): string {
  const values = [`A-${message.messageId.slice(-6)}`];
  return browserGet(`/c/${tokens.makeLink({ ...message, index: 0, values })}`);
}

/** A GET as a browser sends it. */
export function browserGet(path: string): string {
  return [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `User-Agent: ${agent}`, '', ''].join('\r\n');
}

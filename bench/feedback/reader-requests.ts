import { TrackingTokens } from '../../src/feedback/tracking/tracking-tokens.ts';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId, MessageId, TemplateId } from '../../src/foundation/ids.ts';
import { MasterKey } from '../../src/foundation/master-key.ts';
import { benchMasterKey } from '../bench-service.ts';

const tokens = new TrackingTokens(new MasterKey(Buffer.from(benchMasterKey, 'base64')));
const agent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

interface Row {
  readonly id: MessageId;
  readonly retention_days: number;
  readonly template_id: TemplateId;
  readonly template_version: number;
}

/** Messages of an account that were delivered, the newest first. */
export async function deliveredMessages(
  { pool }: Database,
  accountId: AccountId,
  limit: number,
): Promise<Row[]> {
  const { rows } = await pool.query<Row>(
    `select id, retention_days, template_id, template_version from message
     where account_id = $1 and state = 'delivered' and template_id like 'history-%' order by id desc limit $2`,
    [accountId, limit],
  );
  return rows;
}

/** Asks for the image that shows that the message was opened. */
export function openTrackingRequest(accountId: AccountId, row: Row): string {
  return browserGet(openImagePath(accountId, row));
}

/** Where that image is. */
export function openImagePath(
  accountId: AccountId,
  row: Pick<Row, 'id' | 'retention_days'>,
): string {
  return `/o/${tokens.makeOpen(messageOf(accountId, row))}.gif`;
}

/** Follows the first link of the message, which holds a value. */
export function clickTrackingRequest(accountId: AccountId, row: Row): string {
  const token = tokens.makeLink({
    ...messageOf(accountId, row),
    templateId: row.template_id,
    templateVersion: row.template_version,
    index: 0,
    values: [`A-${row.id.slice(-6)}`],
  });
  return browserGet(`/c/${token}`);
}

function messageOf(accountId: AccountId, row: Pick<Row, 'id' | 'retention_days'>) {
  return { accountId, messageId: row.id, retentionDays: row.retention_days };
}

/** A GET as a browser sends it. */
export function browserGet(path: string): string {
  return [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `User-Agent: ${agent}`, '', ''].join('\r\n');
}

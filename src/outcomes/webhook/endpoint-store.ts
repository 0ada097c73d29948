import { sql } from 'kysely';
import type { Permission } from '../../accounts/access/permission.ts';
import { webhookLogsLocked } from '../../base/database/advisory-locks.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, countChanged, firstRow, run } from '../../base/database/statements.ts';
import { type AccountId, newId } from '../../base/values/ids.ts';
import type { WebhookKind } from '../../content/message/event-kinds.ts';
import { newestPage } from './account-event-store.ts';
import type { SecretBox } from './secret-box.ts';
import { sendgridPublicKey } from './sendgrid-webhook.ts';
import {
  newSecretOf,
  shownSecret,
  type WebhookFormatName,
  webhookFormats,
} from './webhook-formats.ts';

export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** An endpoint as shown to users. Secrets are shown only on creation. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly kinds: readonly WebhookKind[];
  readonly format: WebhookFormatName;
  /** When requests started failing; null if the last one succeeded. */
  readonly failingSince: Date | null;
  readonly pausedAt: Date | null;
  readonly pausedReason: string | null;
  /** Until when the previous secret also signs. */
  readonly previousUntil: Date | null;
  readonly createdAt: Date;
}

/** An endpoint with the public key of SendGrid's format, null in any other. */
export interface EndpointWithKey extends WebhookEndpoint {
  readonly publicKey: string | null;
}

/** An endpoint with its newest event. */
export interface ListedEndpoint extends WebhookEndpoint {
  /** Null without events. */
  readonly latest: {
    readonly at: Date;
    readonly state: DeliveryState;
    /** Of the last attempt; 0: no response, null: no attempt yet. */
    readonly status: number | null;
  } | null;
}

/** What a caller sets of an endpoint. */
export interface EndpointSettings {
  readonly url: string;
  readonly kinds: readonly WebhookKind[];
  /** Undefined: as before, or our own. */
  readonly format?: WebhookFormatName | undefined;
  /** `user:password`, for Postmark's format. Undefined: as before, or new ones. */
  readonly credentials?: string | undefined;
  /** Those of the caller in the account: an endpoint gets only what whoever saved it last could read. */
  readonly permissions: ReadonlySet<Permission>;
}

/** Endpoint details needed for sending. */
export interface SendableEndpoint extends Pick<EndpointSettings, 'url' | 'permissions'> {
  readonly format: WebhookFormatName;
  readonly paused: boolean;
  readonly failingSince: Date | null;
  /** The current secret, plus the previous one while it is valid. */
  readonly secrets: readonly string[];
}

const columns = sql`id, url, kinds, format, failing_since as "failingSince", paused_at as "pausedAt",
  paused_reason as "pausedReason", previous_until as "previousUntil", created_at as "createdAt"`;

/** Adds an endpoint. @returns its id and what its receiver needs of its secret, which can't be shown again */
export async function addEndpoint(
  kysely: Kysely,
  box: SecretBox,
  accountId: AccountId,
  { url, kinds, permissions, format = 'signalpost', credentials }: EndpointSettings,
): Promise<{ readonly id: string; readonly secret: string }> {
  const id = newId();
  const secret = credentials ?? newSecretOf(format);
  // The first endpoint of an account begins with the newest event, also if there were others before.
  await run(kysely)`
    with added as (
      insert into webhook_endpoint (account_id, id, url, kinds, permissions, format, secret)
      values (${accountId}, ${id}, ${url}, ${kinds}, ${[...permissions]}, ${format}, ${box.seal(secret, format)}))
    insert into webhook_position as p (account_id, page, size)
    select ${accountId}, coalesce(newest.page, 0), coalesce(newest.size, 0)
    from (select) as one left join (${newestPage(accountId)}) as newest on true
    on conflict (account_id) do update set page = excluded.page, size = excluded.size
    where not exists (select from webhook_endpoint w where w.account_id = ${accountId})`;
  return { id, secret: shownSecret(format, secret) };
}

/** What decides which secret an endpoint has, locked until the end of the transaction. */
function lockSecret(transaction: Kysely, accountId: AccountId, id: string) {
  return firstRow<{ url: string; format: WebhookFormatName; secret: Buffer }>(transaction)`
    select url, format, secret from webhook_endpoint where account_id = ${accountId} and id = ${id} for update`;
}

/**
 * Changes an endpoint's URL, events, permissions and format. Its secret stays if the new format can use it; credentials also only
 * with the URL, because whoever has another one would get them.
 * @returns false if not found
 */
export async function changeEndpoint(
  transaction: Kysely,
  box: SecretBox,
  accountId: AccountId,
  id: string,
  { url, kinds, permissions, credentials, ...settings }: EndpointSettings,
): Promise<boolean> {
  const before = await lockSecret(transaction, accountId, id);
  if (before === undefined) return false;
  const { format = before.format } = settings;
  const staysUsable =
    format === 'postmark'
      ? before.format === format && before.url === url
      : before.format !== 'postmark';
  let secret = sql``;
  if (credentials !== undefined || format !== before.format || !staysUsable) {
    const used =
      credentials ?? (staysUsable ? box.open(before.secret, before.format) : newSecretOf(format));
    secret = sql`, format = ${format}, secret = ${box.seal(used, format)}, previous_secret = null, previous_until = null`;
  }
  const changed = await countChanged(transaction)`
    update webhook_endpoint set url = ${url}, kinds = ${kinds}, permissions = ${[...permissions]} ${secret}
    where account_id = ${accountId} and id = ${id}`;
  return changed === 1;
}

/** Removes an endpoint and its log. @returns false if not found */
export async function removeEndpoint(
  kysely: Kysely,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const changed = await countChanged(kysely)`
    delete from webhook_endpoint
    where ${webhookLogsLocked('exclusive', sql`select ${id}`)} and account_id = ${accountId} and id = ${id}`;
  return changed === 1;
}

/** An account's endpoints, newest first. */
export async function listEndpoints(
  kysely: Kysely,
  accountId: AccountId,
): Promise<ListedEndpoint[]> {
  const rows = await allRows<
    WebhookEndpoint & { eventAt: Date | null; state: DeliveryState | null; status: number | null }
  >(kysely)`
    select ${columns}, d.event_at as "eventAt", d.state, d.last_status as status
    from webhook_endpoint w
    left join lateral (
      select event_at, state, last_status from webhook_delivery
      where account_id = w.account_id and endpoint_id = w.id order by place desc limit 1) d on true
    where w.account_id = ${accountId} order by w.created_at desc, w.id desc`;
  return rows.map(({ eventAt, state, status, ...endpoint }) => ({
    ...endpoint,
    latest: eventAt === null || state === null ? null : { at: eventAt, state, status },
  }));
}

/** An endpoint; undefined if not found. */
export async function readEndpoint(
  kysely: Kysely,
  box: SecretBox,
  accountId: AccountId,
  id: string,
): Promise<EndpointWithKey | undefined> {
  const row = await firstRow<WebhookEndpoint & Pick<SendableRow, 'secret'>>(kysely)`
    select ${columns}, secret from webhook_endpoint where account_id = ${accountId} and id = ${id}`;
  if (row === undefined) return undefined;
  const { secret, ...endpoint } = row;
  const { format } = endpoint;
  const publicKey = format === 'sendgrid' ? sendgridPublicKey(box.open(secret, format)) : null;
  return { ...endpoint, publicKey };
}

/**
 * Rotates an endpoint's secret. For one day, requests carry signatures from both secrets so the receiver can switch, if the format
 * signs twice. Credentials keep their user.
 * @returns what the receiver needs of the new secret, or undefined if the endpoint is not found
 */
export async function rotateEndpointSecret(
  transaction: Kysely,
  box: SecretBox,
  accountId: AccountId,
  id: string,
): Promise<string | undefined> {
  const before = await lockSecret(transaction, accountId, id);
  if (before === undefined) return undefined;
  const { format } = before;
  const [user] = format === 'postmark' ? box.open(before.secret, format).split(':') : [];
  const secret = newSecretOf(format, user);
  const { signsTwice } = webhookFormats[format];
  await run(transaction)`
    update webhook_endpoint
    set previous_secret = case when ${signsTwice} then secret end,
      previous_until = case when ${signsTwice} then now() + interval '1 day' end, secret = ${box.seal(secret, format)}
    where account_id = ${accountId} and id = ${id}`;
  return shownSecret(format, secret);
}

/** SQL: the columns of `SendableRow`. @param failingSince as it will be if the statement changes it */
export const sendableColumns = (
  failingSince = sql`failing_since`,
) => sql`url, format, permissions, paused_at is not null as paused,
  ${failingSince} as "failingSince", secret, case when previous_until > now() then previous_secret end as previous`;

export interface SendableRow {
  /** Null if there is no endpoint. */
  readonly url: string | null;
  readonly format: WebhookFormatName;
  readonly permissions: Permission[];
  readonly paused: boolean;
  readonly failingSince: Date | null;
  readonly secret: Buffer;
  readonly previous: Buffer | null;
}

/** The endpoint of a row, with its secrets; undefined if there is none. */
export function openSendable(
  box: SecretBox,
  row: SendableRow | undefined,
): SendableEndpoint | undefined {
  if (row === undefined || row.url === null) return undefined;
  const { url, format, paused, failingSince, secret, previous } = row;
  const permissions = new Set(row.permissions);
  const secrets = (previous === null ? [secret] : [secret, previous]).map((bytes) =>
    box.open(bytes, format),
  );
  return { url, format, permissions, paused, failingSince, secrets };
}

export async function readSendableEndpoint(
  kysely: Kysely,
  box: SecretBox,
  accountId: AccountId,
  id: string,
): Promise<SendableEndpoint | undefined> {
  const rows = await allRows<SendableRow>(kysely)`
    select ${sendableColumns()} from webhook_endpoint where account_id = ${accountId} and id = ${id}`;
  return openSendable(box, rows[0]);
}

/** Pauses deliveries to an endpoint. New events are still queued for it. */
export async function pauseEndpoint(
  kysely: Kysely,
  accountId: AccountId,
  id: string,
  reason: string,
): Promise<boolean> {
  const changed = await countChanged(kysely)`
    update webhook_endpoint set paused_at = now(), paused_reason = ${reason}
    where account_id = ${accountId} and id = ${id} and paused_at is null`;
  return changed === 1;
}

/** Unpauses an endpoint. `resumeNext` makes its pending events due, and nothing is sent before. */
export async function unpauseEndpoint(
  kysely: Kysely,
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const changed = await countChanged(kysely)`
    update webhook_endpoint set paused_at = null, paused_reason = null, failing_since = null, resumed_place = 0
    where account_id = ${accountId} and id = ${id}`;
  return changed === 1;
}

/** The endpoints of an account whose pending events aren't all due yet after a pause. */
export async function listResuming(kysely: Kysely, accountId: AccountId): Promise<string[]> {
  const rows = await allRows<{ id: string }>(kysely)`
    select id from webhook_endpoint where account_id = ${accountId} and resumed_place is not null`;
  return rows.map(({ id }) => id);
}

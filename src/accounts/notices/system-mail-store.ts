import type { RawBuilder } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import {
  type Budget,
  type BudgetState,
  BudgetUsedUp,
  clearBudgets,
  readBudgets,
  recordUse,
  useBudgets,
} from '../../base/database/budget-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run, valuesOf } from '../../base/database/statements.ts';
import { Fault } from '../../base/values/errors.ts';
import { type AccountId, newId, type PersonId } from '../../base/values/ids.ts';
import type { Locale, MailFacts, SystemMailKind } from './system-mail.ts';

const daySeconds = 86_400;

/** Mails a day that accounts cause, so that nobody can flood mailboxes from the address of the installation. */
const mailsPerDay = {
  /** Links that an account asks for: those to one address, those of one kind to it from all accounts, and all. */
  accountToAddress: 5,
  toAddress: 15,
  account: 100,
  installation: 10_000,
  /** Password links to one address: those that a network asks for, and all. Strangers ask for them, so each network has its own. */
  networkToAddress: 5,
  linksToAddress: 30,
  /** Notices about an account, above which they are collected for hours. */
  accountNotices: 200,
} as const;

type LinkKind = 'invitation' | 'sender-confirmation';

/** The budgets of a link that an account asks for. @param address in lower case */
export function accountLinkBudgets(
  kind: LinkKind,
  accountId: AccountId,
  address: string,
): readonly [toAddress: Budget, all: Budget, account: Budget, installation: Budget] {
  const seconds = daySeconds;
  return [
    { key: ['mail', kind, address, accountId], max: mailsPerDay.accountToAddress, seconds },
    { key: ['mail', kind, address], max: mailsPerDay.toAddress, seconds },
    { key: ['mail of account', accountId], max: mailsPerDay.account, seconds },
    { key: ['mail of accounts'], max: mailsPerDay.installation, seconds },
  ];
}

/** The budgets of a link that a stranger asks for. @param address in lower case */
export function strangersLinkBudgets(address: string, network: string): readonly Budget[] {
  const seconds = daySeconds;
  return [
    { key: ['password link', address, network], max: mailsPerDay.networkToAddress, seconds },
    { key: ['password link', address], max: mailsPerDay.linksToAddress, seconds },
  ];
}

/** Counts the notices about the same thing to one address. */
function noticeBudget(...group: readonly string[]): Budget {
  return { key: ['notice', ...group], max: Number.MAX_SAFE_INTEGER, seconds: daySeconds };
}

/** Counts the notices about an account. */
function accountNoticeBudget(accountId: string): Budget {
  const max = mailsPerDay.accountNotices;
  return { key: ['notices about account', accountId], max, seconds: daySeconds };
}

/** Seconds that a notice waits for others of its kind: a moment, and longer with each one of the last day. */
const waitSeconds = [3, 3, 3, 60, 300, 900] as const;
const maxWaitSeconds = 3_600;
const waitBeyondBudgetSeconds = 4 * 3_600;

/** @param sent notices of the same kind in the last day @param left of the account's budget */
function noticeDelay(sent: number, left: number): number {
  return left <= 0 ? waitBeyondBudgetSeconds : (waitSeconds[sent] ?? maxWaitSeconds);
}

/*
 * The only way into `system_mail`. Whatever is written here has a budget, and an account that is suspended causes none of it.
 */

/** Notification topic that wakes the workers when system mail is waiting. */
export const systemMailTopic = 'system-mail';

interface LinkMail {
  /** Identifies its link's token (`mailedLinkToken`). */
  readonly id: string;
  readonly toAddress: string;
  /** The person whose language it is written in. */
  readonly personId: PersonId | undefined;
}

/** A link that an account asks for. */
interface AccountLinkMail extends LinkMail {
  readonly kind: 'invitation' | 'sender-confirmation';
  readonly accountId: AccountId;
  readonly facts: MailFacts;
}

/**
 * Queues a link that an account asks for; workers see it at commit.
 * @throws BudgetUsedUp if the account or its recipient had too many
 * @throws Fault ACCOUNT_SUSPENDED
 */
export async function enqueueAccountLink(
  transaction: Kysely,
  mail: AccountLinkMail,
): Promise<void> {
  const { kind, accountId, toAddress, facts } = mail;
  const account = await firstRow<{ name: string; suspended: boolean }>(transaction)`
    select name, suspended_at is not null as suspended from account where id = ${accountId}`;
  if (account === undefined || account.suspended) throw new Fault('ACCOUNT_SUSPENDED');
  const budgets = accountLinkBudgets(kind, accountId, toAddress.toLowerCase());
  const { refused } = await useBudgets(transaction, budgets);
  if (refused !== undefined) throw refusalOf(mail, budgets.indexOf(refused.budget), refused);
  await insert(transaction, { ...mail, facts: { account: account.name, accountId, ...facts } });
}

/** Which budget is used up, and what to do. */
function refusalOf(
  { kind, toAddress }: AccountLinkMail,
  index: number,
  { retryAfter }: BudgetState,
): BudgetUsedUp {
  const { accountToAddress, account } = mailsPerDay;
  const fix =
    kind === 'invitation'
      ? 'Ask the person to look for the last one, also in their spam'
      : 'Use the last link, or verify the address by setting up its domain';
  const reasons = [
    `The account sent ${toAddress} ${accountToAddress} links within a day. ${fix}, or retry later`,
    `${toAddress} got too many links within a day. ${fix}, or retry later`,
    `The account caused ${account} mails with links within a day. ${
      kind === 'invitation'
        ? 'Retry later'
        : 'Set up the domains of the senders, which verifies them without links, or retry later'
    }`,
    'The installation has sent its mails of a day. Retry later, or tell its operator',
  ];
  return new BudgetUsedUp(reasons[index] ?? '', retryAfter);
}

/**
 * Queues a password link that somebody asked for, unless the person had too many.
 * @param network of the one who asked
 * @returns undefined: nothing is sent. Otherwise, whether it is the last one for now, so that it must stay valid for long
 */
export async function enqueuePasswordLink(
  transaction: Kysely,
  mail: LinkMail & { readonly personId: PersonId },
  network: string,
): Promise<{ readonly isLast: boolean } | undefined> {
  const budgets = strangersLinkBudgets(mail.toAddress.toLowerCase(), network);
  const { states } = await useBudgets(transaction, budgets);
  if (states === undefined) return undefined;
  const isLast = states.some(({ left }) => left === 0);
  const facts: MailFacts = isLast ? { lasts: 'day' } : {};
  await insert(transaction, { ...mail, kind: 'password-link', facts });
  return { isLast };
}

/** Lets the person with an address have password links again, after one was used. */
export async function allowPasswordLinks(
  transaction: Kysely,
  address: string,
  network: string,
): Promise<void> {
  await clearBudgets(transaction, strangersLinkBudgets(address.toLowerCase(), network));
}

async function insert(
  transaction: Kysely,
  mail: LinkMail & {
    readonly kind: SystemMailKind;
    readonly accountId?: AccountId;
    readonly facts: MailFacts;
  },
): Promise<void> {
  const { id, kind, toAddress, personId = null, accountId = null, facts } = mail;
  await run(transaction)`
    insert into system_mail (id, kind, to_address, person_id, account_id, facts)
    values (${id}, ${kind}, ${toAddress}, ${personId}, ${accountId}, ${JSON.stringify(facts)}::jsonb)`;
  await announceChange(transaction, systemMailTopic, id);
}

/** A security notice; `facts` has its event. */
interface Notice {
  readonly toAddress: string;
  /** Null: an address of an account. */
  readonly personId: PersonId | null;
  readonly accountId: AccountId | null;
  readonly facts: MailFacts;
}

/**
 * Queues security notices. Those about the same event to one address are sent as one, after a moment; the more of them there were
 * in the last day, the longer they are collected. So none is lost, and no flood of changes is a flood of mail.
 * @param notices a query of the columns `to_address`, `person_id`, `account_id` and `facts`
 */
export async function enqueueNotices(
  transaction: Kysely,
  notices: RawBuilder<unknown>,
): Promise<void> {
  const rows = await allRows<Notice>(transaction)`
    select n.to_address as "toAddress", n.person_id as "personId", n.account_id as "accountId",
      n.facts || case when a.id is null then '{}' else jsonb_build_object('account', a.name, 'accountId', a.id) end as facts
    from (${notices}) n left join account a on a.id = n.account_id
    where a.suspended_at is null`;
  if (rows.length === 0) return;
  const groups = rows.map(groupOf);
  const accounts = rows.map(({ accountId }) => accountNoticeBudget(accountId ?? ''));
  const states = await readBudgets(transaction, [...groups, ...accounts]);
  const queued = rows.map((notice, index) => {
    const left = notice.accountId === null ? 1 : (states[rows.length + index]?.left ?? 0);
    return { ...notice, id: newId(), seconds: noticeDelay(states[index]?.used ?? 0, left) };
  });
  // A notice that is already being sent, or that another transaction is writing, collects no more.
  const leading = await valuesOf<string>(transaction)`
    with written as (
      insert into system_mail (id, kind, to_address, person_id, account_id, facts, due_at, sent_with)
      select n.id, 'security-notice', n."toAddress", n."personId", n."accountId", n.facts,
        coalesce(w.due_at + interval '1 day', now() + n.seconds * interval '1 second'), w.id
      from jsonb_to_recordset(${JSON.stringify(queued)}::jsonb) as n (
        id uuid, "toAddress" text, "personId" uuid, "accountId" text, facts jsonb, seconds integer)
      left join lateral (
        select id, due_at from system_mail
        where kind = 'security-notice' and sent_with is null and attempts = 0 and to_address = n."toAddress"
          and person_id is not distinct from n."personId" and account_id is not distinct from n."accountId"
          and facts ->> 'event' = n.facts ->> 'event' and facts ->> 'about' is not distinct from n.facts ->> 'about'
        order by created_at limit 1 for share skip locked) w on true
      returning id, sent_with)
    select id from written where sent_with is null`;
  const isLeading = new Set(leading);
  const used = queued.flatMap(({ id, accountId }, index) => {
    const group = groups[index];
    if (group === undefined || !isLeading.has(id)) return [];
    return accountId === null ? [group] : [group, accountNoticeBudget(accountId)];
  });
  await recordUse(transaction, used);
  await announceChange(transaction, systemMailTopic, '');
}

function groupOf({ toAddress, personId, accountId, facts }: Notice) {
  const { event = '', about = '' } = facts;
  return noticeBudget(toAddress.toLowerCase(), personId ?? '', accountId ?? '', event, about);
}

/** What a mail says happened, and when. */
export interface MailEntry {
  readonly facts: MailFacts;
  readonly createdAt: Date;
}

/** A system email claimed by a worker. */
export interface ClaimedSystemMail extends MailEntry {
  readonly id: string;
  readonly kind: SystemMailKind;
  readonly toAddress: string;
  readonly personId: PersonId | null;
  readonly name: string | null;
  readonly locale: Locale | null;
  /** Notices that are sent with it, oldest first. */
  readonly collected: readonly (MailEntry & { readonly id: string })[];
}

/**
 * Claims mail that is due; mail that isn't settled becomes due again after an increasing delay. Notices come last,
 * because people wait for links, and a flood of notices must not delay password resets.
 */
export async function claimSystemMail(kysely: Kysely, limit: number): Promise<ClaimedSystemMail[]> {
  const rows = await allRows<Omit<ClaimedSystemMail, 'collected'>>(kysely)`
    with due as (
      select id from system_mail where due_at <= now()
      order by kind = 'security-notice', due_at limit ${limit} for update skip locked)
    update system_mail m
    set attempts = m.attempts + 1,
      due_at = now() + least(30 * power(2, least(m.attempts, 10)), 3600) * interval '1 s'
    from due
    where m.id = due.id
    returning m.id, m.kind, m.to_address as "toAddress", m.person_id as "personId", m.facts, m.created_at as "createdAt",
      (select p.name from person p where p.id = m.person_id) as name,
      (select p.locale from person p where p.id = m.person_id) as locale`;
  if (rows.length === 0) return [];
  // From here on, no more are added, so every attempt has the same.
  const collected = await allRows<MailEntry & { id: string; sentWith: string }>(kysely)`
    select id, sent_with as "sentWith", facts, created_at as "createdAt" from system_mail
    where sent_with = any (${rows.map(({ id }) => id)}::uuid[]) order by created_at, id`;
  return rows.map((mail) => ({
    ...mail,
    collected: collected.filter(({ sentWith }) => sentWith === mail.id),
  }));
}

/** Removes a system email, and those sent with it, from the queue. */
export async function settleSystemMail(
  kysely: Kysely,
  { id, collected }: Pick<ClaimedSystemMail, 'id' | 'collected'>,
): Promise<void> {
  const ids = [id, ...collected.map((mail) => mail.id)];
  await run(kysely)`delete from system_mail where id = any (${ids}::uuid[])`;
}

/** Deletes all queued system mail, when there is no address to send it from. */
export async function dropSystemMail(kysely: Kysely): Promise<void> {
  await run(kysely)`delete from system_mail`;
}

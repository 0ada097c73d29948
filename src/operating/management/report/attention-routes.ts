import { type Static, Type } from 'typebox';
import type { Account } from '../../../accounts/account/account.ts';
import { type QuotaUsage, readQuotaUsage } from '../../../accounts/account/quota-usage-store.ts';
import { Flag, NamedObject, Nullable, Text, Uuid } from '../../../base/values/common-schemas.ts';
import type { ReportColumnCounts } from '../../../content/message/event-kinds.ts';
import { readReport } from '../../../outcomes/report/read-report-store.ts';
import { formatRate } from '../../../sending/delivery/shaping/explain-throttle.ts';
import { accountOf, defineOperation } from '../operation.ts';
import {
  type AttentionFacts,
  readAttentionFacts,
  readSendReadiness,
  readThrottledReceivers,
  type ThrottledReceiver,
} from './attention-store.ts';

const dayMs = 86_400_000;

/** Something that needs a user's attention, and what to do about it. */
const AttentionView = NamedObject('Attention', {
  kind: Text('Stable identifier.'),
  severity: Type.Enum(['error', 'warning', 'info']),
  subject: Nullable(Text('The affected domain, address or URL.')),
  webhookId: Nullable(Uuid),
  sentence: Type.String(),
  nextStep: Type.String(),
});

export const getAttention = defineOperation({
  id: 'getAttention',
  summary: 'List items that need attention',
  answer: NamedObject('AttentionList', {
    items: Type.Array(AttentionView),
  }),
  async handle(call) {
    const account = accountOf(call);
    const { kysely } = call;
    const now = call.dependencies.clock.now();
    const [facts, throttled, [month], use] = await Promise.all([
      readAttentionFacts(kysely, account.id),
      readThrottledReceivers(kysely, account.id),
      readReport(kysely, account.id, {
        from: new Date(now - 30 * dayMs),
        until: new Date(now + dayMs),
        group: 'none',
        timeZone: 'UTC',
      }),
      account.quota && readQuotaUsage(kysely, account.id),
    ]);
    return { items: findAttention({ account, facts, throttled, month: month?.counts, use }) };
  },
});

type AttentionItem = Static<typeof AttentionView>;

/** An item that isn't about a webhook. */
type PlainItem = Omit<AttentionItem, 'webhookId'>;

type FoundItem = PlainItem & Partial<Pick<AttentionItem, 'webhookId'>>;

/** Shares above which mailbox providers start to distrust a sender. */
const maxBounceShare = 0.05;
const maxComplaintShare = 0.001;
const minDelivered = 50;

/** What attention items are derived from. */
interface AttentionSources {
  readonly account: Account;
  readonly facts: AttentionFacts;
  readonly throttled: readonly ThrottledReceiver[];
  /** The last 30 days; undefined if nothing was sent. */
  readonly month: ReportColumnCounts | undefined;
  /** Undefined if the account has no quota. */
  readonly use: QuotaUsage | undefined;
}

/** What needs attention in an account, most severe first. */
function findAttention(sources: AttentionSources): AttentionItem[] {
  const { account, facts, throttled, month, use } = sources;
  const items = [
    ...errors(account, facts),
    ...quotas(account, use),
    ...throttled.map(describeThrottled),
    ...rates(month),
    ...notices(account, facts),
  ];
  return items.map((item) => ({ webhookId: null, ...item }));
}

/** Omits the server's reply, which may have been about another account's message. */
function describeThrottled({ label, waiting, rate }: ThrottledReceiver): PlainItem {
  const wait = waiting === 1 ? '1 queued message is' : `${waiting} queued messages are`;
  return {
    kind: 'destination-throttled',
    severity: 'warning',
    subject: label,
    sentence: `${label} is throttling your mail. ${wait} being sent at ${formatRate(rate)}.`,
    nextStep:
      'Sending speeds up automatically as the receiving server allows. If it stays slow, warm up the domain and send only mail people expect.',
  };
}

/** Share of a quota above which to warn. */
const quotaWarningShare = 0.8;

function quotas({ quota }: Account, use: QuotaUsage | undefined): PlainItem[] {
  if (use === undefined) return [];
  const windows = [
    ['hour', quota?.perHour, use.hourUsed],
    ['day', quota?.perDay, use.dayUsed],
  ] as const;
  return windows.flatMap(([name, limit, used]) => {
    if (limit === undefined || used < limit * quotaWarningShare) return [];
    const usedUp = used >= limit;
    return {
      kind: usedUp ? 'quota-used-up' : 'quota-nearly-used',
      severity: usedUp ? 'error' : 'warning',
      subject: name,
      sentence: `${Math.min(used, limit)} of ${limit} recipients used this ${name}.${usedUp ? ' Further messages are rejected.' : ''}`,
      nextStep: `Wait for the next ${name}, or ask an operator to raise the quota.`,
    };
  });
}

function errors(account: Account, facts: AttentionFacts): FoundItem[] {
  const found: FoundItem[] = [];
  const addItem = (kind: string, subject: string | null, sentence: string, nextStep: string) =>
    found.push({ kind, severity: 'error', subject, sentence, nextStep });
  if (account.suspended)
    addItem(
      'suspended',
      null,
      'The account is suspended and can’t send.',
      'Ask an operator to lift the suspension.',
    );
  for (const domain of facts.brokenDomains)
    addItem(
      'domain-broken',
      domain,
      `The DNS records of ${domain} are no longer correct.`,
      'Compare them with the expected values and fix them.',
    );
  for (const { id, url } of facts.failingWebhooks)
    found.push({
      kind: 'webhook-failing',
      severity: 'error',
      subject: url,
      webhookId: id,
      sentence: `Requests to the webhook ${url} are failing.`,
      nextStep: 'Check its log, fix the endpoint and replay the events.',
    });
  return found;
}

function rates(month: ReportColumnCounts | undefined): PlainItem[] {
  if (month === undefined || month.delivered < minDelivered) return [];
  const found: PlainItem[] = [];
  const bounced = month.bounced_hard / (month.delivered + month.bounced_hard);
  if (bounced > maxBounceShare) {
    found.push({
      kind: 'bounces-rising',
      severity: 'warning',
      subject: null,
      sentence: `${(bounced * 100).toFixed(1)}% of messages hard-bounced in the last 30 days.`,
      nextStep:
        'Check where the addresses come from, and confirm new ones before you send to them.',
    });
  }
  if (month.complained / month.delivered > maxComplaintShare) {
    found.push({
      kind: 'complaints-rising',
      severity: 'warning',
      subject: null,
      sentence: 'More than 1 in 1,000 recipients complained in the last 30 days.',
      nextStep: 'Check which templates they complained about.',
    });
  }
  return found;
}

function notices(account: Account, facts: AttentionFacts): FoundItem[] {
  const found: FoundItem[] = [];
  const addItem = (kind: string, subject: string | null, sentence: string, nextStep: string) =>
    found.push({ kind, severity: 'info', subject, sentence, nextStep });
  if (facts.held > 0)
    addItem(
      'messages-held',
      null,
      facts.held === 1
        ? '1 message is held for review.'
        : `${facts.held} messages are held for review.`,
      'Review the queue, then retry or cancel.',
    );
  for (const destination of facts.pauses)
    addItem(
      'paused',
      destination,
      destination === '*' ? 'All mail is paused.' : `Mail to ${destination} is paused.`,
      'Resume it when you’re ready.',
    );
  for (const { id, url } of facts.pausedWebhooks)
    found.push({
      kind: 'webhook-paused',
      severity: 'info',
      subject: url,
      webhookId: id,
      sentence: `The webhook ${url} is paused. Its events are kept.`,
      nextStep: 'Resume it when the endpoint works.',
    });
  for (const domain of facts.pendingDomains)
    addItem(
      'domain-pending',
      domain,
      `${domain} isn’t verified yet.`,
      'Publish its DNS records and check again.',
    );
  if (facts.verifiedSenders === 0)
    addItem(
      'no-sender',
      null,
      'No sender is verified, so you can’t send yet.',
      'Add a sender and verify it.',
    );
  if (facts.publishedTemplates === 0)
    addItem('no-template', null, 'No template is published.', 'Create a template and publish it.');
  if (!facts.canProgramsSend)
    addItem(
      'no-integration',
      null,
      'No API key or OAuth app can send, so your code can’t send yet.',
      'Create an API key.',
    );
  if (!account.addOns.has('transactional'))
    addItem(
      'no-transactional',
      null,
      'The account doesn’t have the transactional add-on, so transactional messages are rejected.',
      'Ask an operator to enable it.',
    );
  return found;
}

export const getSendReadiness = defineOperation({
  id: 'getSendReadiness',
  summary: 'Get the steps to a first message that are done',
  answer: NamedObject('SendReadiness', {
    sender: Flag('There is a verified sender.'),
    template: Flag('There is a published template whose sender is verified.'),
    key: Flag(
      'There is an API key that can send, or an OAuth app with which a user can get a token that can.',
    ),
    message: Flag('A message from a program was accepted; test messages don’t count.'),
  }),
  handle: (call) => readSendReadiness(call.kysely, call.params.accountId),
});

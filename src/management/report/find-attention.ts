import type { Account } from '../../account/account.ts';
import type { QuotaUsage } from '../../account/quota-usage-store.ts';
import { formatRate } from '../../delivery/shaping/explain-throttle.ts';
import type { ReportColumnCounts } from '../../message/event-kinds.ts';
import type { AttentionFacts, ThrottledReceiver } from './attention-store.ts';

/** Something that a person should look at, and what to do about it. */
export interface AttentionItem {
  /** Stable name, for programs. */
  readonly kind: string;
  readonly severity: 'error' | 'warning' | 'info';
  readonly sentence: string;
  readonly nextStep: string;
  /** The domain, address or the like that it is about. */
  readonly subject: string | null;
}

/** Shares of delivered messages above which receivers begin to distrust a sender. */
const maxBounceShare = 0.05;
const maxComplaintShare = 0.001;
const minDelivered = 50;

/** What is known about an account. */
export interface AttentionSources {
  readonly account: Account;
  readonly facts: AttentionFacts;
  readonly throttled: readonly ThrottledReceiver[];
  /** Of the last 30 days; undefined where nothing was sent. */
  readonly month: ReportColumnCounts | undefined;
  /** Undefined where the account has no quota. */
  readonly use: QuotaUsage | undefined;
}

/** What needs attention in an account, the worst first. */
export function findAttention(sources: AttentionSources): AttentionItem[] {
  const { account, facts, throttled, month, use } = sources;
  return [
    ...errors(account, facts),
    ...quotas(account, use),
    ...throttled.map(describeThrottled),
    ...rates(month),
    ...notices(account, facts),
  ];
}

/** What the receiver said is not told: it may have been about somebody else's message. */
function describeThrottled({ label, waiting, rate }: ThrottledReceiver): AttentionItem {
  const wait =
    waiting === 1 ? '1 message waits for it and goes' : `${waiting} messages wait for it and go`;
  return {
    kind: 'destination-throttled',
    severity: 'warning',
    subject: label,
    sentence: `${label} asked to slow down; ${wait} at ${formatRate(rate)} now.`,
    nextStep:
      'They go by themselves, faster as it allows. If it stays slow, warm the domain up and send only what people expect.',
  };
}

/** Share of a quota from which on it is told that it nears its end. */
const quotaWarningShare = 0.8;

function quotas({ quota }: Account, use: QuotaUsage | undefined): AttentionItem[] {
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
      sentence: `${Math.min(used, limit)} of the ${limit} messages of this ${name} are used${usedUp ? '; more are refused' : ''}.`,
      nextStep: 'Wait until it is over, or ask an operator for a higher quota.',
    };
  });
}

function errors(account: Account, facts: AttentionFacts): AttentionItem[] {
  const found: AttentionItem[] = [];
  const addItem = (kind: string, subject: string | null, sentence: string, nextStep: string) =>
    found.push({ kind, severity: 'error', subject, sentence, nextStep });
  if (account.suspended)
    addItem(
      'suspended',
      null,
      'The account is suspended; it can send nothing.',
      'Ask an operator of the installation.',
    );
  for (const domain of facts.brokenDomains)
    addItem(
      'domain-broken',
      domain,
      `The DNS records of ${domain} are no longer right.`,
      'Compare them with what is expected.',
    );
  for (const url of facts.failingWebhooks)
    addItem(
      'webhook-failing',
      url,
      `The webhook ${url} does not answer.`,
      'Look at its log, mend the receiver, and replay.',
    );
  return found;
}

function rates(month: ReportColumnCounts | undefined): AttentionItem[] {
  if (month === undefined || month.delivered < minDelivered) return [];
  const found: AttentionItem[] = [];
  const bounced = month.bounced_hard / (month.delivered + month.bounced_hard);
  if (bounced > maxBounceShare) {
    found.push({
      kind: 'bounces-rising',
      severity: 'warning',
      subject: null,
      sentence: `${(bounced * 100).toFixed(1)} % of the last 30 days bounced for good.`,
      nextStep: 'Look where the addresses come from, and confirm them before they are written to.',
    });
  }
  if (month.complained / month.delivered > maxComplaintShare) {
    found.push({
      kind: 'complaints-rising',
      severity: 'warning',
      subject: null,
      sentence: 'More than one in a thousand recipients complained in the last 30 days.',
      nextStep: 'Look at which template they complained about.',
    });
  }
  return found;
}

function notices(account: Account, facts: AttentionFacts): AttentionItem[] {
  const found: AttentionItem[] = [];
  const addItem = (kind: string, subject: string | null, sentence: string, nextStep: string) =>
    found.push({ kind, severity: 'info', subject, sentence, nextStep });
  if (facts.held > 0)
    addItem(
      'messages-held',
      null,
      `${facts.held} messages wait for a person.`,
      'Retry or cancel them.',
    );
  for (const destination of facts.pauses)
    addItem(
      'paused',
      destination,
      destination === '*' ? 'All mail is paused.' : `Mail to ${destination} is paused.`,
      'Resume it when you are ready.',
    );
  for (const url of facts.pausedWebhooks)
    addItem(
      'webhook-paused',
      url,
      `The webhook ${url} is paused; its events wait.`,
      'Resume it when the receiver works.',
    );
  for (const domain of facts.pendingDomains)
    addItem(
      'domain-pending',
      domain,
      `${domain} is not verified yet.`,
      'Publish its DNS records, then check again.',
    );
  if (facts.verifiedSenders === 0)
    addItem(
      'no-sender',
      null,
      'No sender is verified, so nothing can be sent.',
      'Add a sender and verify it.',
    );
  if (facts.publishedTemplates === 0)
    addItem('no-template', null, 'No template is published.', 'Write a template and publish it.');
  if (facts.integrations === 0)
    addItem(
      'no-integration',
      null,
      'No program may call the service yet.',
      'Register an integration.',
    );
  if (!account.addOns.has('transactional'))
    addItem(
      'no-transactional',
      null,
      'The account lacks the transactional add-on; transactional messages are refused.',
      'Ask an operator for it.',
    );
  return found;
}

import { isIP } from 'node:net';
import { type Locale, type MailFacts, securityEvents } from '../../accounts/notices/system-mail.ts';
import type { ClaimedSystemMail, MailEntry } from '../../accounts/notices/system-mail-store.ts';
import { textsOf } from './texts/texts-of.ts';

const maxLength = 80;
/** An address of which mail programs make nothing but a link that writes to it. */
const simpleAddress = /^[\w.+-]+@[A-Za-z0-9.-]+$/;
/** Characters that can begin or continue a link if something follows them at once, and what browsers read as dots. */
const linking = /[.:。．｡․](?=\S)/g;

/**
 * What other people wrote, such as a name, as words of which no mail program makes a link: a mail of the service must lead nowhere
 * else. Addresses and IP addresses stay whole.
 */
export function plainWords(text: string): string {
  if (isIP(text) !== 0 || (text.length <= 254 && simpleAddress.test(text))) return text;
  // Invisible characters could hide a dot from the rule, or turn text around.
  const visible = text
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const letters = [...visible];
  const short =
    letters.length > maxLength ? `${letters.slice(0, maxLength).join('').trimEnd()}…` : visible;
  return short.replaceAll(linking, '[$&]');
}

type MailContent = Pick<
  ClaimedSystemMail,
  'kind' | 'toAddress' | 'facts' | 'createdAt' | 'name' | 'collected'
>;

/** The field values of an email in its language, except the link. What people wrote is in them only as plain words. */
export function mailValues(
  mail: MailContent,
  locale: Locale,
  publicUrl: string,
): Record<string, string> {
  const { kind, toAddress } = mail;
  const facts = plainFacts(mail.facts);
  const texts = textsOf[locale];
  const account = { 'Account Name': facts.account ?? '', 'Account ID': facts.accountId ?? '' };
  switch (kind) {
    case 'password-link':
      return {
        Name: plainWords(mail.name ?? toAddress),
        Email: toAddress,
        'Expires In': facts.lasts === 'day' ? texts.hours(24) : texts.minutes(30),
      };
    case 'invitation':
      return {
        Email: toAddress,
        Inviter: facts.inviter ?? '',
        'Inviter Email': facts.inviterEmail ?? '',
        Role: texts.roles[facts.role ?? ''] ?? facts.role ?? '',
        'Expires In': texts.days(7),
        ...account,
      };
    case 'sender-confirmation':
      return {
        'Sender Address': toAddress,
        'Asked By': facts.askedBy || texts.someone,
        'Expires In': texts.hours(24),
        ...account,
      };
    case 'security-notice':
      return { ...noticeValues(mail, locale), 'Sign-In Page': `${publicUrl}/me` };
  }
}

function plainFacts(facts: MailFacts): MailFacts {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, plainWords(value)]),
  );
}

/** Notices that a mail lists; the audit log has all of them. */
const maxListed = 20;

function noticeValues(mail: MailContent, locale: Locale): Record<string, string> {
  const { facts, toAddress, createdAt, collected } = mail;
  const texts = textsOf[locale];
  const event = securityEvents.find((name) => name === facts.event);
  if (event === undefined) throw new Error(`unknown security event ${facts.event}`);
  const { subject, body } = texts.notices[event];
  const count = collected.length + 1;
  const times = count === 1 ? '' : ` (${count})`;
  const isAboutOther = facts.about !== undefined;
  const reason = isAboutOther ? fill(texts.accountNotice.reason, facts, toAddress, locale) : '';
  const happened = [mail, ...collected].map((entry) => fill(body, entry.facts, toAddress, locale));
  const listed = [mail, ...collected]
    .slice(0, maxListed)
    .map(({ createdAt: at }, index) => `• ${timeOf(at)}: ${happened[index]}`);
  if (count > maxListed) listed.push(`• ${texts.more(count - maxListed)}`);
  const text = count === 1 ? (happened[0] ?? '') : listed.join('\n');
  const separator = count === 1 ? ' ' : '\n';
  return {
    Subject: `${isAboutOther ? texts.accountNotice.subject : subject}${times}`,
    'What Happened': reason === '' ? text : `${text}${separator}${reason}`,
    When: timeOf(collected.at(-1)?.createdAt ?? createdAt),
  };
}

/** Fills the text of a notice in a single pass, so that a name can't introduce fields. */
function fill(text: string, facts: MailEntry['facts'], toAddress: string, locale: Locale): string {
  const { about, who, keyName, account, accountId, browser, address } = plainFacts(facts);
  const named: MailFacts = {
    Email: about ?? toAddress,
    Who: who || textsOf[locale].someone,
    'Key Name': keyName ?? '',
    'Account Name': account ?? '',
    'Account ID': accountId ?? '',
    Browser: browser ?? '',
    Address: address ?? '',
  };
  return text.replaceAll(/\{\{([^{}]+)\}\}/g, (_, name: string) => named[name] ?? '');
}

function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

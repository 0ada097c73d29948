import { type Locale, type MailFacts, securityEvents } from '../outbox/system-mail.ts';
import type { ClaimedSystemMail } from '../outbox/system-mail-store.ts';
import { textsOf } from './texts/texts-of.ts';

/** The field values of an email in its language, except the link. */
export function mailValues(
  mail: Pick<ClaimedSystemMail, 'kind' | 'toAddress' | 'facts' | 'createdAt' | 'name'>,
  locale: Locale,
  publicUrl: string,
): Record<string, string> {
  const { kind, facts, toAddress } = mail;
  const texts = textsOf[locale];
  const account = { 'Account Name': facts.account ?? '', 'Account ID': facts.accountId ?? '' };
  switch (kind) {
    case 'password-link':
      return { Name: mail.name ?? toAddress, Email: toAddress, 'Expires In': texts.minutes(30) };
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

function noticeValues(
  { facts, toAddress, createdAt }: Pick<ClaimedSystemMail, 'toAddress' | 'facts' | 'createdAt'>,
  locale: Locale,
): Record<string, string> {
  const texts = textsOf[locale];
  const event = securityEvents.find((name) => name === facts.event);
  if (event === undefined) throw new Error(`unknown security event ${facts.event}`);
  const { subject, body } = texts.notices[event];
  const named: MailFacts = {
    Email: facts.about ?? toAddress,
    Who: facts.who || texts.someone,
    'Key Name': facts.keyName ?? '',
    'Account Name': facts.account ?? '',
    'Account ID': facts.accountId ?? '',
    Browser: facts.browser ?? '',
    Address: facts.address ?? '',
  };
  // In a single pass, so that a name can't introduce fields.
  const fill = (text: string) =>
    text.replaceAll(/\{\{([^{}]+)\}\}/g, (_, name: string) => named[name] ?? '');
  const isAboutOther = facts.about !== undefined;
  return {
    Subject: isAboutOther ? fill(texts.accountNotice.subject) : subject,
    'What Happened': fill(isAboutOther ? `${body} ${texts.accountNotice.reason}` : body),
    When: `${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  };
}

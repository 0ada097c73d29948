import type { Locale, SystemMailKind } from '../outbox/system-mail.ts';
import type { TemplateSource } from '../template/template-source.ts';
import { endSessionsField, linkField, mailFields } from './mail-fields.ts';
import { layOutMail } from './mail-layout.ts';
import type { LinkMailText, MailTexts } from './texts/mail-texts.ts';
import { textsOf } from './texts/texts-of.ts';

/** The built-in template for a kind of email in a language. */
export function builtInTemplate(kind: SystemMailKind, locale: Locale): TemplateSource {
  const texts = textsOf[locale];
  if (kind === 'security-notice') return noticeTemplate(locale, texts);
  const text = {
    'password-link': texts.passwordLink,
    invitation: texts.invitation,
    'sender-confirmation': texts.senderConfirmation,
  }[kind];
  return linkTemplate(kind, locale, text, texts);
}

function linkTemplate(
  kind: SystemMailKind,
  locale: Locale,
  text: LinkMailText,
  { pasteLink, footer }: MailTexts,
): TemplateSource {
  const { subject, title, body, facts, button, limit, unexpected } = text;
  const mjml = layOutMail({
    locale,
    title,
    body,
    facts,
    button: { label: button, field: linkField },
    note: limit,
    unexpected,
    pasteLink,
    footer,
  });
  return { subject, previewText: limit, mjml, fields: mailFields[kind] };
}

function noticeTemplate(locale: Locale, texts: MailTexts): TemplateSource {
  const { noticeTime, noticeUnexpected, noticeEscape, noticeButton, pasteLink, footer } = texts;
  const mjml = layOutMail({
    locale,
    title: '{{Subject}}',
    body: '<span style="white-space:pre-line">{{What Happened}}</span>',
    button: { label: noticeButton, field: 'Sign-In Page' },
    note: noticeTime,
    unexpected: noticeUnexpected,
    escape: { label: noticeEscape, field: endSessionsField },
    pasteLink,
    footer,
  });
  return {
    subject: '{{Subject}}',
    previewText: noticeTime,
    mjml,
    fields: mailFields['security-notice'],
  };
}

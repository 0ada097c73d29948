import type { SecurityEvent } from '../../../accounts/notices/system-mail.ts';

/** The text of an email with a link. Fields are written as `{{Name}}`. */
export interface LinkMailText {
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  /** Rows of label and value between the text and the button. */
  readonly facts?: readonly (readonly [label: string, field: string])[];
  readonly button: string;
  /** How long the link works. */
  readonly limit: string;
  /** What to do if the recipient didn't expect the email. */
  readonly unexpected: string;
}

/** The text of a security notice. */
interface NoticeText {
  readonly subject: string;
  readonly body: string;
}

/** The texts of all system mail in one language. */
export interface MailTexts {
  readonly passwordLink: LinkMailText;
  readonly invitation: LinkMailText;
  readonly senderConfirmation: LinkMailText;
  /** The names of roles; an unknown role is shown as is. */
  readonly roles: Readonly<Record<string, string>>;
  readonly notices: Readonly<Record<SecurityEvent, NoticeText>>;
  /** A notice about an owner or operator, for the security address of their account; follows the text of the notice. */
  readonly accountNotice: { readonly subject: string; readonly reason: string };
  /** Used if the person's name isn't known. */
  readonly someone: string;
  readonly noticeTime: string;
  /** Notices that a mail doesn't list. */
  readonly more: (count: number) => string;
  readonly noticeUnexpected: string;
  /** The label of the link that signs out everywhere. */
  readonly noticeEscape: string;
  readonly noticeButton: string;
  readonly pasteLink: string;
  readonly footer: string;
  readonly minutes: (count: number) => string;
  readonly hours: (count: number) => string;
  readonly days: (count: number) => string;
}

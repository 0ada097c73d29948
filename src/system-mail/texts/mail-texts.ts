import type { SecurityEvent } from '../../outbox/system-mail.ts';

/** The text of a mail with a link; fields stand in it as `{{Name}}`. */
export interface LinkMailText {
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  /** Between the text and the button; rows of name and value. */
  readonly facts?: readonly (readonly [label: string, field: string])[];
  readonly button: string;
  /** How long the link works. */
  readonly limit: string;
  /** What to do when the mail was not expected. */
  readonly unexpected: string;
}

/** What a security notice says of one event. */
interface NoticeText {
  readonly subject: string;
  readonly body: string;
}

/** Everything that mail of the service itself says in one language. */
export interface MailTexts {
  readonly passwordLink: LinkMailText;
  readonly invitation: LinkMailText;
  readonly senderConfirmation: LinkMailText;
  /** The names of roles; another one is shown as it is. */
  readonly roles: Readonly<Record<string, string>>;
  readonly notices: Readonly<Record<SecurityEvent, NoticeText>>;
  /** Said in a notice where nobody can be named. */
  readonly somebody: string;
  readonly noticeTime: string;
  readonly noticeUnexpected: string;
  readonly noticeButton: string;
  readonly pasteLink: string;
  readonly footer: string;
  readonly minutes: (count: number) => string;
  readonly hours: (count: number) => string;
  readonly days: (count: number) => string;
}

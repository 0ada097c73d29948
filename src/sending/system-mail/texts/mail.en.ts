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

export const english = {
  passwordLink: {
    subject: 'Set your password',
    title: 'Set your password',
    body: 'Hello {{Name}}, use this link to set a new password for {{Email}}.',
    button: 'Set password',
    limit: 'The link works once and expires in {{Expires In}}.',
    unexpected:
      'If you didn’t request this, ignore this email. Your password won’t change unless you use the link.',
  },
  invitation: {
    subject: 'You’re invited to join an account',
    title: 'You’re invited',
    body: '{{Inviter}} ({{Inviter Email}}) invited {{Email}} to join this account:',
    facts: [
      ['Account', 'Account Name'],
      ['Account ID', 'Account ID'],
      ['Role', 'Role'],
    ],
    button: 'View invitation',
    limit: 'The link works once and expires in {{Expires In}}.',
    unexpected:
      'If you don’t know this person or account, ignore this email. Nothing happens unless you accept.',
  },
  senderConfirmation: {
    subject: 'Confirm your sender address',
    title: 'Confirm your sender address',
    body: 'This account wants to send email from your address:',
    facts: [
      ['Requested by', 'Asked By'],
      ['Address', 'Sender Address'],
      ['Account', 'Account Name'],
      ['Account ID', 'Account ID'],
    ],
    button: 'Confirm address',
    limit: 'The link works once and expires in {{Expires In}}.',
    unexpected:
      'If you don’t know this account, ignore this email. Nothing can be sent from your address unless you confirm.',
  },
  /** The names of roles; an unknown role is shown as is. */
  roles: {
    owner: 'Owner',
    developer: 'Developer',
    marketer: 'Marketer',
    viewer: 'Viewer',
    service: 'Service',
  },
  notices: {
    'password-changed': {
      subject: 'Your password was changed',
      body: 'The password for {{Email}} was changed. All other sessions were signed out, and OAuth apps lost access.',
    },
    'password-set-by-link': {
      subject: 'Your password was set with a link',
      body: 'The password for {{Email}} was set with a link from an email. All other sessions were signed out, and OAuth apps lost access.',
    },
    'second-factor-added': {
      subject: 'Authenticator app added',
      body: 'An authenticator app was added for {{Email}}. Signing in now requires a second factor.',
    },
    'second-factor-removed': {
      subject: 'Authenticator app removed',
      body: 'The authenticator app of {{Email}} was removed. Without a passkey, signing in now requires only the password.',
    },
    'passkey-added': {
      subject: 'Passkey added',
      body: 'A passkey was added for {{Email}}. It can sign in without the password.',
    },
    'passkey-removed': {
      subject: 'Passkey removed',
      body: 'A passkey of {{Email}} was removed. It can no longer be used to sign in.',
    },
    'provider-connected': {
      subject: 'Sign-in provider connected',
      body: 'A sign-in provider was connected for {{Email}}. It can sign in without the password.',
    },
    'provider-disconnected': {
      subject: 'Sign-in provider disconnected',
      body: 'A sign-in provider of {{Email}} was disconnected. It can no longer be used to sign in.',
    },
    'recovery-codes-made': {
      subject: 'New recovery codes',
      body: 'New recovery codes were created for {{Email}}. The old codes no longer work.',
    },
    'new-browser': {
      subject: 'New sign-in',
      body: '{{Email}} signed in with a browser that wasn’t used before: {{Browser}}, from {{Address}}.',
    },
    'sign-in-blocked': {
      subject: 'Sign-in attempts are being slowed down',
      body: 'Someone tried to sign in as {{Email}} with wrong passwords or codes, last from {{Address}}. Further attempts are delayed, but not from browsers that signed in before.',
    },
    'api-key-created': {
      subject: 'New API key',
      body: '{{Who}} created the API key “{{Key Name}}” in the account {{Account Name}} ({{Account ID}}).',
    },
    'api-key-rotated': {
      subject: 'API key rotated',
      body: '{{Who}} rotated the API key “{{Key Name}}” in the account {{Account Name}} ({{Account ID}}).',
    },
    'security-address-changed': {
      subject: 'Security address changed',
      body: 'The address that gets the security notices of the account {{Account Name}} ({{Account ID}}) was changed.',
    },
    'archive-address-changed': {
      subject: 'Archive address changed',
      body: 'The address that gets a copy of the mail of the account {{Account Name}} ({{Account ID}}) was changed.',
    },
    'template-fields-revealed': {
      subject: 'Template field no longer secret',
      body: '{{Who}} published a template with a field that is no longer secret, in the account {{Account Name}} ({{Account ID}}). Its values can now be seen in messages.',
    },
    'owner-added': {
      subject: 'New account owner',
      body: '{{Who}} is now an owner of the account {{Account Name}} ({{Account ID}}).',
    },
    'owner-removed': {
      subject: 'Account owner removed',
      body: '{{Who}} is no longer an owner of the account {{Account Name}} ({{Account ID}}).',
    },
    'you-are-owner': {
      subject: 'You’re now an account owner',
      body: '{{Email}} is now an owner of the account {{Account Name}} ({{Account ID}}).',
    },
    'you-are-no-owner': {
      subject: 'You’re no longer an account owner',
      body: '{{Email}} is no longer an owner of the account {{Account Name}} ({{Account ID}}).',
    },
    'operator-added': {
      subject: 'New operator',
      body: '{{Who}} is now an operator of this installation.',
    },
    'you-are-operator': {
      subject: 'You’re now an operator',
      body: '{{Email}} is now an operator of this installation.',
    },
  },
  /** A notice about an owner or operator, for the security address of their account; follows the text of the notice. */
  accountNotice: {
    subject: 'Security notice about a person of your account',
    reason:
      '{{Email}} is an owner or operator in the account {{Account Name}} ({{Account ID}}). If they don’t know about this, end their access on its Team page.',
  },
  /** Used if the person's name isn't known. */
  someone: 'Someone',
  noticeTime: 'Time: {{When}}',
  noticeUnexpected:
    'If you didn’t expect this, sign out everywhere, set a new password, and tell the operator of this service.',
  /** The label of the link that signs out everywhere. */
  noticeEscape: 'Sign out everywhere',
  noticeButton: 'Review security',
  pasteLink: 'If the button doesn’t work, copy this address into your browser:',
  footer: 'This is a service email about your sign-in or address. You can’t unsubscribe from it.',
  /** Notices that a mail doesn't list. */
  more: (count: number) => `and ${count} more, which the audit log lists`,
  minutes: (count: number) => `${count} minutes`,
  hours: (count: number) => `${count} hours`,
  days: (count: number) => `${count} days`,
} satisfies Readonly<Record<string, unknown>> & Readonly<Record<LinkMail, LinkMailText>>;

type LinkMail = 'passwordLink' | 'invitation' | 'senderConfirmation';

/** The texts of all system mail in one language: those that English has. */
export type MailTexts = Omit<typeof english, LinkMail | 'roles' | 'notices'> &
  Readonly<Record<LinkMail, LinkMailText>> & {
    readonly roles: Readonly<Record<string, string>>;
    readonly notices: Readonly<Record<SecurityEvent, Pick<LinkMailText, 'subject' | 'body'>>>;
  };

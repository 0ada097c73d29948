import type { SystemMailKind } from '../../accounts/notices/system-mail.ts';
import type { FieldSettings } from '../../content/template/template-source.ts';

/** The field that contains the link; its value is visible only in the email itself. */
export const linkField = 'Link';

/** The field of security notices that signs the person out everywhere. */
export const endSessionsField = 'Sign-Out Link';

const link: FieldSettings = {
  description: 'The link. Always secret, never tracked.',
  sample: 'https://mail.example.com/link',
  secret: true,
};
const expires: FieldSettings = { description: 'How long the link works.', sample: '30 minutes' };

const account: Readonly<Record<string, FieldSettings>> = {
  'Account Name': { sample: 'Demo Shop' },
  'Account ID': { sample: '1000' },
};

/** The fields available to each kind of email; a field without a value is empty. */
export const mailFields: Readonly<Record<SystemMailKind, Readonly<Record<string, FieldSettings>>>> =
  {
    'password-link': {
      [linkField]: link,
      'Expires In': expires,
      Name: { sample: 'Ann' },
      Email: { sample: 'ann@shop.test' },
    },
    invitation: {
      [linkField]: link,
      'Expires In': { ...expires, sample: '7 days' },
      Email: { sample: 'ann@shop.test' },
      Inviter: { description: 'The name of the person who sent the invitation.', sample: 'Bob' },
      'Inviter Email': { sample: 'bob@shop.test' },
      Role: { sample: 'Developer' },
      ...account,
    },
    'sender-confirmation': {
      [linkField]: link,
      'Expires In': { ...expires, sample: '24 hours' },
      'Sender Address': { sample: 'orders@shop.test' },
      'Asked By': { sample: 'bob@shop.test' },
      ...account,
    },
    'security-notice': {
      Subject: { description: 'What happened, in a few words.', sample: 'New API key' },
      'What Happened': { sample: 'The password of ann@shop.test was changed.' },
      When: { description: 'Time in UTC.', sample: '2026-01-31 12:00 UTC' },
      [endSessionsField]: {
        description: 'The link that signs the person out everywhere. Works for 7 days.',
        sample: 'https://mail.example.com/link',
        secret: true,
      },
      'Sign-In Page': {
        description: 'URL of the page where people manage their own sign-in.',
        sample: 'https://mail.example.com/me',
      },
    },
  };

/** Fields with what people of an account wrote: a subject or preview of the service must not say it for them. */
export const writtenFields: ReadonlySet<string> = new Set([
  'Account Name',
  'Asked By',
  'Inviter',
  'Inviter Email',
  'Name',
  'What Happened',
]);

/** Kinds of email that are useless without a link. */
export function hasLink(kind: SystemMailKind): boolean {
  return Object.hasOwn(mailFields[kind], linkField);
}

import type { SystemMailKind } from '../outbox/system-mail.ts';
import type { FieldSettings } from '../template/template-source.ts';

/** The field with the link of a mail; what stands in it is shown nowhere but in the mail. */
export const linkField = 'Link';

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

/** The fields that each kind of mail has values for. A value that there is none for is empty. */
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
      Inviter: { description: 'The name of who invites.', sample: 'Bob' },
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
      'Sign-In Page': {
        description: 'The address of the page with everything about the own sign-in.',
        sample: 'https://mail.example.com/me',
      },
    },
  };

/** Kinds whose mail is worth nothing without its link. */
export function hasLink(kind: SystemMailKind): boolean {
  return Object.hasOwn(mailFields[kind], linkField);
}

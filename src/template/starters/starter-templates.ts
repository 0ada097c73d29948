import type { TemplateSource } from '../template-source.ts';
import {
  starterAddress,
  starterButton,
  starterLayout,
  starterMarkup,
  starterNote,
  starterText,
  starterTitle,
  subjectOf,
} from './starter-layout.ts';

/** A finished template that a new one can start from. */
export interface StarterTemplate {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly content: TemplateSource;
  /** Whether a request brings the document that the message announces. */
  readonly attachment: boolean;
}

const firstName = { default: 'there', sample: 'Ada' };
const items = (fields: NonNullable<TemplateSource['fields']>[string]['fields']) => ({
  kind: 'list' as const,
  fields: fields ?? {},
});

/** Lines of a table; with a header row, it is a table of data. */
const lines = (
  rows: string,
) => `<mj-table css-class="ink items"${rows.includes('<th') ? '' : ' role="presentation"'}>
  ${rows.replaceAll('\n', '\n  ')}
</mj-table>`;

const total = (label: string, field: string) => `<tr>
  <td class="total">${label}</td>
  <td class="total price">{{currency "USD" ${field}}}</td>
</tr>`;

const itemRows = `<tr>
  <th align="left" scope="col">Item</th>
  <th class="price" align="right" scope="col">Price</th>
</tr>
{{#Items}}
<tr>
  <td class="line">{{Name}}</td>
  <td class="line price">{{currency "USD" Price}}</td>
</tr>
{{/Items}}`;

const itemFields = {
  Name: { description: 'As the customer knows it' },
  Price: { description: 'An amount such as 24.90' },
};
const sampleItems = [
  { Name: 'Espresso beans, 1 kg', Price: '24.90' },
  { Name: 'Paper filters × 100', Price: '4.50' },
];

/** Eight templates that most products need, with the account's name. */
export function starterTemplates(accountName: string): readonly StarterTemplate[] {
  const company = starterMarkup(accountName);
  const plain = subjectOf(accountName);
  return [
    {
      id: 'welcome',
      name: 'Welcome',
      description: 'Greets a new customer and says what to do first.',
      attachment: false,
      content: {
        subject: `Welcome to ${plain}, {{First Name}}`,
        previewText: 'Your account is ready. Here is where to start.',
        mjml: starterLayout({
          title: `Welcome to ${company}`,
          company,
          body: [
            starterTitle('Welcome, {{First Name}}'),
            starterText(
              `Your ${company} account is ready. Start with the first step; it takes a few minutes.`,
            ),
            starterButton('Get started', 'Start Link'),
            starterNote('Questions? Just reply to this email.'),
          ].join('\n'),
          footer: `You received this email because you signed up for ${company}.`,
        }),
        fields: {
          'First Name': firstName,
          'Start Link': { sample: 'https://example.com/start', description: 'The first step' },
        },
      },
    },
    {
      id: 'confirm-address',
      name: 'Confirm address',
      description: 'Asks a new customer to confirm their email address.',
      attachment: false,
      content: {
        subject: `Confirm your email address for ${plain}`,
        previewText: 'The link works once, within {{Expires In}}.',
        mjml: starterLayout({
          title: 'Confirm your email address',
          company,
          body: [
            starterTitle('Confirm your email address'),
            starterText(
              `Hi {{First Name}}, please confirm that this address belongs to you. Then your ${company} account is complete.`,
            ),
            starterButton('Confirm address', 'Confirm Link'),
            starterNote(
              'The link works once, within <strong>{{Expires In}}</strong>. If you didn’t sign up, ignore this email.',
            ),
            starterAddress('Confirm Link'),
          ].join('\n'),
          footer: `You received this email because someone entered this address at ${company}.`,
        }),
        fields: {
          'First Name': firstName,
          'Confirm Link': { secret: true, sample: 'https://example.com/confirm/EXAMPLE' },
          'Expires In': { default: '24 hours' },
        },
      },
    },
    {
      id: 'password-reset',
      name: 'Password reset',
      description: 'Sends the link to choose a new password.',
      attachment: false,
      content: {
        subject: `Reset your ${plain} password`,
        previewText: 'The link works once, within {{Expires In}}.',
        mjml: starterLayout({
          title: 'Reset your password',
          company,
          body: [
            starterTitle('Choose a new password'),
            starterText(
              `Hi {{First Name}}, someone asked to reset the password of your ${company} account. If that was you, choose a new one:`,
            ),
            starterButton('Choose a password', 'Reset Link'),
            starterNote(
              'The link works once, within <strong>{{Expires In}}</strong>.{{#Requested From}} The request came from {{Requested From}}.{{/Requested From}} If it wasn’t you, ignore this email: your password stays the same.',
            ),
            starterAddress('Reset Link'),
          ].join('\n'),
          footer: `${company} never asks for your password by email or phone.`,
        }),
        fields: {
          'First Name': firstName,
          'Reset Link': { secret: true, sample: 'https://example.com/reset/EXAMPLE' },
          'Expires In': { default: '30 minutes' },
          'Requested From': { default: '', sample: 'Firefox on Linux' },
        },
      },
    },
    {
      id: 'invitation',
      name: 'Invitation',
      description: 'Invites someone to a team or workspace.',
      attachment: false,
      content: {
        subject: `{{Inviter}} invited you to {{Team}} on ${plain}`,
        previewText: 'Accept within {{Expires In}}.',
        mjml: starterLayout({
          title: 'You’re invited',
          company,
          body: [
            starterTitle('Join {{Team}}'),
            starterText(
              `<strong>{{Inviter}}</strong> invited you to work together in <strong>{{Team}}</strong> on ${company}.`,
            ),
            starterButton('Accept invitation', 'Accept Link'),
            starterNote(
              'The invitation expires in <strong>{{Expires In}}</strong>. If you don’t know {{Inviter}}, ignore this email.',
            ),
            starterAddress('Accept Link'),
          ].join('\n'),
          footer: `You received this email because {{Inviter}} entered your address at ${company}.`,
        }),
        fields: {
          Inviter: { sample: 'Grace Hopper', description: 'The name of who invites' },
          Team: { sample: 'Compilers', description: 'The team or workspace' },
          'Accept Link': { secret: true, sample: 'https://example.com/accept/EXAMPLE' },
          'Expires In': { default: '7 days' },
        },
      },
    },
    {
      id: 'receipt',
      name: 'Receipt',
      description: 'Confirms an order, with a line for each item and the total.',
      attachment: false,
      content: {
        subject: `Your ${plain} order {{Order Number}}`,
        previewText: 'Thank you, {{First Name}}. Your order is confirmed.',
        mjml: starterLayout({
          title: 'Your order {{Order Number}}',
          company,
          body: [
            starterTitle('Thank you, {{First Name}}'),
            starterText(
              'Your order <strong>{{Order Number}}</strong> is confirmed. We’ll email you when it ships.',
            ),
            lines(`${itemRows}
{{#Shipping}}
<tr>
  <td class="line">Shipping</td>
  <td class="line price">{{currency "USD" Shipping}}</td>
</tr>
{{/Shipping}}
${total('Total', 'Total')}`),
            '<mj-raw>{{#Order Link}}</mj-raw>',
            starterButton('View order', 'Order Link'),
            '<mj-raw>{{/Order Link}}</mj-raw>',
            starterNote('Something isn’t right? Reply to this email.'),
          ].join('\n'),
          footer: `You received this email because you ordered at ${company}.`,
        }),
        fields: {
          'First Name': firstName,
          'Order Number': { sample: 'A-1001' },
          Items: { ...items(itemFields), sample: sampleItems },
          Shipping: { default: '', sample: '3.90' },
          Total: { sample: '33.30', description: 'An amount such as 33.30' },
          'Order Link': { default: '', sample: 'https://example.com/orders/A-1001' },
        },
      },
    },
    {
      id: 'shipping',
      name: 'Shipping',
      description: 'Says that an order is on its way, and how to track it.',
      attachment: false,
      content: {
        subject: 'Your order {{Order Number}} is on its way',
        previewText: '{{#Expected}}It should arrive {{Expected}}.{{/Expected}}',
        mjml: starterLayout({
          title: 'Your order is on its way',
          company,
          body: [
            starterTitle('On its way'),
            starterText(
              'Hi {{First Name}}, we handed your order <strong>{{Order Number}}</strong> to {{Carrier}}.{{#Expected}} It should arrive <strong>{{Expected}}</strong>.{{/Expected}}',
            ),
            starterButton('Track package', 'Tracking Link'),
            starterNote('Tracking number: <strong>{{Tracking Number}}</strong>'),
            '<mj-raw>{{#Delivery Address}}</mj-raw>',
            `<mj-text mj-class="quiet" padding="16px 0 0">
  Delivery address:<br />
  <span style="white-space:pre-line">{{Delivery Address}}</span>
</mj-text>`,
            '<mj-raw>{{/Delivery Address}}</mj-raw>',
          ].join('\n'),
          footer: `You received this email because you ordered at ${company}.`,
        }),
        fields: {
          'First Name': firstName,
          'Order Number': { sample: 'A-1001' },
          Carrier: { sample: 'UPS' },
          'Tracking Number': { sample: '1Z999AA10123456784' },
          'Tracking Link': { sample: 'https://example.com/track/1Z999AA10123456784' },
          Expected: { default: '', sample: 'on Thursday' },
          'Delivery Address': { default: '', sample: 'Ada Lovelace\n12 St James’s Square\nLondon' },
        },
      },
    },
    {
      id: 'invoice',
      name: 'Invoice',
      description: 'Sends an invoice as an attached PDF, with amount and due date.',
      attachment: true,
      content: {
        subject: `Invoice {{Invoice Number}} from ${plain}`,
        previewText: '{{currency "USD" Amount}}, due {{date "long" Due Date}}.',
        mjml: starterLayout({
          title: 'Invoice {{Invoice Number}}',
          company,
          body: [
            starterTitle('Invoice {{Invoice Number}}'),
            starterText('Hi {{First Name}}, your invoice is attached as a PDF.'),
            lines(`<tr>
  <td>Due</td>
  <td class="price">{{date "long" Due Date}}</td>
</tr>
${total('Amount', 'Amount')}`),
            '<mj-raw>{{#Pay Link}}</mj-raw>',
            starterButton('Pay invoice', 'Pay Link'),
            '<mj-raw>{{/Pay Link}}</mj-raw>',
            starterNote(
              'Already paid? Then there’s nothing left to do. For questions, reply to this email.',
            ),
          ].join('\n'),
          footer: `You received this email because you’re a customer of ${company}.`,
        }),
        fields: {
          'First Name': firstName,
          'Invoice Number': { sample: '2026-0042' },
          Amount: { sample: '240.00', description: 'An amount such as 240.00' },
          'Due Date': { sample: '2026-12-31', description: 'A date such as 2026-12-31' },
          'Pay Link': { default: '', sample: 'https://example.com/pay/2026-0042' },
        },
      },
    },
    {
      id: 'security-notice',
      name: 'Security notice',
      description: 'Tells someone about a sign-in or a change of their account.',
      attachment: false,
      content: {
        subject: `{{Event}} at ${plain}`,
        previewText: 'If this was you, there’s nothing to do.',
        mjml: starterLayout({
          title: 'Security notice',
          company,
          body: [
            starterTitle('{{Event}}'),
            starterText(`Hi {{First Name}}, this happened in your ${company} account:`),
            lines(`<tr>
  <td class="line">When</td>
  <td class="line price">{{When}}</td>
</tr>
{{#Device}}
<tr>
  <td class="line">Device</td>
  <td class="line price">{{Device}}</td>
</tr>
{{/Device}}
{{#Location}}
<tr>
  <td class="line">Location</td>
  <td class="line price">{{Location}}</td>
</tr>
{{/Location}}`),
            starterText(
              'If this was you, there’s nothing to do. If it wasn’t, secure your account now:',
            ),
            starterButton('Secure account', 'Secure Link'),
          ].join('\n'),
          footer: 'We send security notices to every account. You can’t turn them off.',
        }),
        fields: {
          'First Name': firstName,
          Event: { sample: 'New sign-in', description: 'What happened, in a few words' },
          When: { sample: 'December 1, 2026, 9:30 AM' },
          Device: { default: '', sample: 'Firefox on Linux' },
          Location: { default: '', sample: 'Berlin, Germany' },
          'Secure Link': { sample: 'https://example.com/security' },
        },
      },
    },
  ];
}

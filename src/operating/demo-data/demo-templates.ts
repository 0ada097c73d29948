import { starterTemplates } from '../../content/template/starters/starter-templates.ts';
import type { DemoPerson } from './demo-people.ts';

/** The name of the demo's account. */
export const demoShopName = 'Fernwood Coffee';

/** What the messages of a template have in common. */
interface DemoTemplate {
  readonly id: string;
  /** Of 100 messages. */
  readonly share: number;
  readonly tag: string;
  readonly transactional: boolean;
  readonly sender: string;
  values(person: DemoPerson, number: number): Readonly<Record<string, unknown>>;
}

const orders = 'orders@fernwood.example';
const accounts = 'accounts@fernwood.example';

/** Address and display name of each sender. */
export const demoSenders = [
  { address: orders, displayNames: [demoShopName] },
  { address: accounts, displayNames: [`${demoShopName} Accounts`] },
] as const;

const products = [
  ['Espresso beans, 1 kg', 24.9],
  ['Filter roast, 500 g', 13.5],
  ['Paper filters × 100', 4.5],
  ['Hand grinder', 79],
  ['Pour-over kettle', 54],
  ['Decaf, 250 g', 8.9],
  ['Tasting set', 32],
] as const;

function cart(number: number) {
  const count = 1 + (number % 3);
  const items = Array.from({ length: count }, (_, index) => {
    const [name, price] = products[(number * 3 + index * 2) % products.length] ?? products[0];
    return { Name: name, Price: price.toFixed(2) };
  });
  const shipping = number % 4 === 0 ? 0 : 3.9;
  const sum = items.reduce((total, { Price }) => total + Number(Price), shipping);
  return {
    Items: items,
    ...(shipping > 0 && { Shipping: shipping.toFixed(2) }),
    Total: sum.toFixed(2),
  };
}

const orderNumber = (number: number) => `A-${10_000 + number}`;

/** Values of secret fields are erased once a message is final. */
const erased = null;

export const demoTemplates: readonly DemoTemplate[] = [
  {
    id: 'receipt',
    share: 26,
    tag: 'orders',
    transactional: true,
    sender: orders,
    values: ({ firstName }, number) => ({
      'First Name': firstName,
      'Order Number': orderNumber(number),
      ...cart(number),
      'Order Link': `https://fernwood.example/orders/${orderNumber(number)}`,
    }),
  },
  {
    id: 'shipping',
    share: 22,
    tag: 'orders',
    transactional: true,
    sender: orders,
    values: ({ firstName }, number) => ({
      'First Name': firstName,
      'Order Number': orderNumber(number),
      Carrier: ['UPS', 'FedEx', 'DHL'][number % 3],
      'Tracking Number': `1Z${String(number).padStart(9, '0')}`,
      'Tracking Link': `https://fernwood.example/track/${number}`,
      Expected: ['tomorrow', 'on Thursday', 'in two days'][number % 3],
    }),
  },
  {
    id: 'confirm-address',
    share: 14,
    tag: 'account',
    transactional: true,
    sender: accounts,
    values: ({ firstName }) => ({ 'First Name': firstName, 'Confirm Link': erased }),
  },
  {
    id: 'password-reset',
    share: 12,
    tag: 'account',
    transactional: true,
    sender: accounts,
    values: ({ firstName }, number) => ({
      'First Name': firstName,
      'Reset Link': erased,
      'Requested From': ['Firefox on Linux', 'Safari on iPhone', 'Chrome on Windows'][number % 3],
    }),
  },
  {
    id: 'welcome',
    share: 10,
    tag: 'account',
    transactional: false,
    sender: accounts,
    values: ({ firstName }) => ({
      'First Name': firstName,
      'Start Link': 'https://fernwood.example/start',
    }),
  },
  {
    id: 'security-notice',
    share: 8,
    tag: 'security',
    transactional: true,
    sender: accounts,
    values: ({ firstName }, number) => ({
      'First Name': firstName,
      Event: ['New sign-in', 'Password changed', 'Second factor added'][number % 3],
      When: 'a moment ago',
      Device: ['Firefox on Linux', 'Safari on iPhone', 'Chrome on Windows'][number % 3],
      'Secure Link': 'https://fernwood.example/security',
    }),
  },
  {
    id: 'invoice',
    share: 6,
    tag: 'billing',
    transactional: true,
    sender: orders,
    values: ({ firstName }, number) => ({
      'First Name': firstName,
      'Invoice Number': `2026-${String(number).padStart(5, '0')}`,
      Amount: (80 + (number % 40) * 7.5).toFixed(2),
      'Due Date': '2026-12-31',
    }),
  },
  {
    id: 'invitation',
    share: 2,
    tag: 'account',
    transactional: false,
    sender: accounts,
    values: (_person, number) => ({
      Inviter: ['Grace Hopper', 'Omar Haddad', 'Mira Keller'][number % 3],
      Team: ['Barista Guild', 'Wholesale', 'Office supply'][number % 3],
      'Accept Link': erased,
    }),
  },
];

/** The templates of the manifest: the starters, each with its sender. */
export function demoManifestTemplates(createdBy: string): object[] {
  return starterTemplates(demoShopName).map(({ id, name, content }) => ({
    id,
    name,
    createdBy,
    sender: demoTemplates.find((template) => template.id === id)?.sender,
    ...content,
  }));
}

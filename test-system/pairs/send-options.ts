import { createHash } from 'node:crypto';
import type { CoveredOptions } from './covering-array.ts';

/** A file of a message, as any door sends it. */
interface DraftFile {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
  readonly contentId?: string;
}

/** What a case sends, whatever its door: the options set its members, doors write them, and the judge expects them. */
export interface Draft {
  /** Of the case, and of the domain of all its addresses. */
  readonly name: string;
  readonly accountId: string;
  readonly to: string;
  readonly template: 'letter' | 'pictured';
  readonly toName?: string;
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  /** Addresses that the account must not write to; also in `cc`. */
  readonly suppressed: readonly string[];
  readonly archive?: string;
  readonly replyTo?: string;
  readonly receiveReplies?: true;
  readonly headers: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, string>>;
  readonly files: readonly DraftFile[];
  readonly locale?: string;
  readonly items: readonly string[];
  /** Times from the beginning of delivery, in milliseconds. */
  readonly sendAt?: number;
  readonly deliverBefore?: number;
  readonly late?: 'FALSE';
  readonly dueVersion?: true;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  readonly transactional: boolean;
  readonly statusToken?: object;
  readonly repeated: boolean;
}

/** What a value sets; lists are added to those of other values. */
type Effect = Partial<Draft>;

interface SendOption<Value extends string> {
  readonly values: Readonly<Record<Value, Effect>>;
  readonly ending?: readonly NoInfer<Value>[];
  readonly excludes?: {
    readonly [Name in NoInfer<Value>]?: Readonly<Record<string, readonly string[]>>;
  };
}

function option<Value extends string>(described: SendOption<Value>): SendOption<Value> {
  return described;
}

const minute = 60_000;

/** When messages are accepted, in milliseconds from the beginning of delivery. */
export const acceptedAt = -70 * minute;

/** One pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
export const templateImage = {
  contentId: 'logo',
  filename: 'logo.png',
  contentType: 'image/png',
  content: picture,
  sha256: createHash('sha256').update(picture).digest('hex'),
};
const photo = {
  filename: 'photo.png',
  contentType: 'image/png',
  content: picture,
  contentId: 'photo',
};
const receipt = {
  filename: 'receipt.pdf',
  contentType: 'application/pdf',
  content: Buffer.from('%PDF-1.7\n%%EOF\n'),
};

const overSmtp = ['template SMTP', 'raw SMTP'];
const ownArchive = ['same as To'];

/**
 * Everything that can be chosen about a message and its surroundings: the values of each option with what they set, and the values
 * of other options that they exclude. Addresses are named by their local parts. A new option joins all cases by one line.
 */
export const sendOptions = {
  door: option({ values: { HTTP: {}, batch: {}, 'template SMTP': {}, 'raw SMTP': {} } }),
  way: option({ values: { relay: {}, direct: {}, inbox: {} } }),
  event: option({
    values: {
      none: {},
      paused: {},
      canceled: {},
      'account suspended': {},
      'sender removed': {},
      'sender removed and added': {},
      resent: {},
      'To erased while waiting': {},
      'Cc erased while waiting': {},
      'To erased at the end': {},
      'content erased while waiting': {},
      'content erased at the end': {},
      'addresses erased at the end': {},
      'DKIM key rotated': {},
      'master key rotated': {},
      'worker died before the dot': {},
      'worker died after the dot': {},
    },
    ending: [
      'canceled',
      'sender removed',
      'To erased while waiting',
      'content erased while waiting',
    ],
    excludes: {
      // Others are sent as they were accepted.
      'sender removed': { sendAt: ['absent', 'past'] },
      'Cc erased while waiting': { cc: ['none'], archive: ownArchive },
      'To erased while waiting': { archive: ownArchive },
      // The account keeps its archive address.
      'To erased at the end': { archive: ownArchive },
      'addresses erased at the end': { archive: ownArchive },
      // Its server is a part of the process that dies.
      'worker died before the dot': { way: ['inbox'] },
      'worker died after the dot': { way: ['inbox'] },
    },
  }),
  name: option({ values: { none: {}, given: { toName: 'Ada, the "first"' } } }),
  sendAt: option({
    values: {
      absent: {},
      past: { sendAt: acceptedAt - minute },
      ahead: { sendAt: -10 * minute },
    },
  }),
  deliverBefore: option({
    values: {
      absent: {},
      ahead: { deliverBefore: 30 * 60 * minute },
      passed: { deliverBefore: -5 * minute },
    },
    ending: ['passed'],
  }),
  deliveryWhenDelayed: option({
    values: { absent: {}, FALSE: { late: 'FALSE' } },
    // Delivery begins after the freshness window of a message that isn't scheduled.
    excludes: { FALSE: { door: overSmtp, sendAt: ['absent', 'past'] } },
  }),
  templateVersion: option({
    values: { accepted: {}, due: { dueVersion: true } },
    excludes: { due: { door: overSmtp } },
  }),
  replies: option({
    values: {
      sender: {},
      address: { replyTo: 'help@shop.test' },
      received: { receiveReplies: true },
    },
  }),
  cc: option({
    values: {
      none: {},
      one: { cc: ['cc'] },
      'with suppressed': { cc: ['gone', 'cc'], suppressed: ['gone'] },
    },
  }),
  bcc: option({ values: { none: {}, two: { bcc: ['blind', 'hidden'] } } }),
  archive: option({
    values: { none: {}, own: { archive: 'archive' }, 'same as To': { archive: 'to' } },
  }),
  attachment: option({
    values: { none: {}, file: { files: [receipt] } },
    excludes: { file: { door: ['batch', 'template SMTP'] } },
  }),
  image: option({
    values: {
      none: {},
      'of the template': { template: 'pictured' },
      'of the request': { files: [photo] },
    },
    excludes: {
      'of the request': { door: ['batch', 'template SMTP'] },
      'of the template': { door: ['raw SMTP'] },
    },
  }),
  locale: option({
    values: { none: {}, variant: { locale: 'de-AT' }, unknown: { locale: 'fr' } },
    excludes: { variant: { door: ['raw SMTP'] }, unknown: { door: ['raw SMTP'] } },
  }),
  list: option({ values: { empty: {}, items: { items: ['Beans', 'Cups & <more>'] } } }),
  headers: option({
    values: {
      none: {},
      some: { headers: { 'X-Order': 'A-1001', 'List-ID': '<orders.shop.test>' } },
    },
    excludes: { some: { door: ['template SMTP'] } },
  }),
  attributes: option({ values: { none: {}, some: { attributes: { store: 'North' } } } }),
  trackOpens: option({ values: { no: {}, yes: { trackOpens: true } } }),
  trackClicks: option({ values: { no: {}, yes: { trackClicks: true } } }),
  transactional: option({ values: { no: {}, yes: { transactional: true } } }),
  statusLink: option({
    values: { none: {}, private: { statusToken: { private: true } } },
    excludes: { private: { door: overSmtp } },
  }),
  repetition: option({ values: { none: {}, 'same key': { repeated: true } } }),
};

/** The most used, of which each triple is covered. */
export const inTriples: readonly OptionName[] = [
  'door',
  'way',
  'sendAt',
  'replies',
  'cc',
  'bcc',
  'archive',
  'attachment',
  'trackClicks',
  'transactional',
];

type OptionName = keyof typeof sendOptions;

/** A value of each option. */
export type SendCase = {
  readonly [Name in OptionName]: keyof (typeof sendOptions)[Name]['values'];
};

export const coveredOptions: CoveredOptions = Object.fromEntries(
  Object.entries<SendOption<string>>(sendOptions).map(([name, { values, ending, excludes }]) => [
    name,
    { values: Object.keys(values), ending, excludes } as CoveredOptions[string],
  ]),
);

const empty = {
  template: 'letter',
  cc: [],
  bcc: [],
  suppressed: [],
  headers: {},
  attributes: {},
  files: [],
  items: [],
  trackOpens: false,
  trackClicks: false,
  transactional: false,
  repeated: false,
} as const satisfies Effect;

/** What a case sends. */
export function makeDraft(values: SendCase, number: number): Draft {
  const effects = Object.entries<SendOption<string>>(sendOptions).map(
    ([name, option]) => option.values[values[name as OptionName]] ?? {},
  );
  const chosen: Omit<Draft, 'name' | 'accountId' | 'to'> = Object.assign({}, empty, ...effects);
  // None begins with another.
  const name = `c${String(number).padStart(3, '0')}`;
  const at = (person: string): string => `${person}@${name}.test`;
  return {
    ...chosen,
    name,
    accountId: `shop-${name}`,
    to: at('to'),
    cc: chosen.cc.map(at),
    bcc: chosen.bcc.map(at),
    suppressed: chosen.suppressed.map(at),
    files: effects.flatMap(({ files = [] }) => files),
    ...(chosen.archive !== undefined && { archive: at(chosen.archive) }),
  };
}

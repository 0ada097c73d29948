import type { HeaderField } from '../../base/mime/header-fields.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import { textOfField } from './read-message-head.ts';

/** Fields with this prefix are for the service and never sent. */
export const controlPrefix = 'x-signalpost-';

/** A field that controls how a message is sent. */
interface ControlField {
  readonly name: string;
  /** For the documentation. */
  readonly meaning: string;
}

/** All of them by the member of `ControlFields` that they become. */
export const controlFields = {
  template: {
    name: 'X-Signalpost-Template',
    meaning: 'ID of the template to send; the body is then a JSON object with its values',
  },
  tag: { name: 'X-Signalpost-Tag', meaning: 'groups messages in reports' },
  idempotencyKey: {
    name: 'X-Signalpost-Idempotency-Key',
    meaning: 'a second message with this key to the same recipients isn’t sent within 24 hours',
  },
  attributes: {
    name: 'X-Signalpost-Attributes',
    meaning: 'a JSON object of your own data: `{"order":"A-1001"}`',
  },
  externalId: {
    name: 'X-Signalpost-External-Id',
    meaning: 'an identifier from your own system',
  },
  sendAt: { name: 'X-Signalpost-Send-At', meaning: 'when to send it (RFC 3339)' },
  deliverBefore: {
    name: 'X-Signalpost-Deliver-Before',
    meaning: 'a time (RFC 3339) after which it is no longer delivered',
  },
  locale: { name: 'X-Signalpost-Locale', meaning: 'the recipient’s language, with a template' },
  transactional: {
    name: 'X-Signalpost-Transactional',
    meaning: '`true` for critical, non-commercial email; needs the transactional add-on',
  },
  trackOpens: { name: 'X-Signalpost-Track-Opens', meaning: '`true` to track opens of the HTML' },
  trackClicks: {
    name: 'X-Signalpost-Track-Clicks',
    meaning: '`true` to track clicks on links of the HTML',
  },
  receiveReplies: {
    name: 'X-Signalpost-Receive-Replies',
    meaning: '`true` to receive replies by webhook; not with Reply-To',
  },
} as const satisfies Readonly<Record<string, ControlField>>;

type ControlName = keyof typeof controlFields;
type BooleanField = 'transactional' | 'trackOpens' | 'trackClicks' | 'receiveReplies';

/** What the control fields of a message say. */
export type ControlValues = {
  readonly [Name in Exclude<ControlName, BooleanField | 'attributes'>]: string | undefined;
} & { readonly [Name in BooleanField]: boolean } & {
  /** Parsed JSON; checked with the rest of the message. */
  readonly attributes: unknown;
};

/** Written by the service itself into redirected messages, which may come back. */
const ignoredNames = ['x-signalpost-original-to'];

const knownNames = new Map(
  Object.entries(controlFields).map(([key, { name }]) => [name.toLowerCase(), key as ControlName]),
);

/**
 * Reads the control fields of a message.
 * @throws Fault VALIDATION_FAILED for unknown and repeated ones and unreadable values
 */
export function readControlFields(fields: readonly HeaderField[]): ControlValues {
  const details: FaultDetail[] = [];
  const texts = new Map<ControlName, string>();
  for (const field of fields) {
    if (!field.name.startsWith(controlPrefix) || ignoredNames.includes(field.name)) continue;
    const key = knownNames.get(field.name);
    const reason =
      key === undefined
        ? 'is not a known field; check its spelling'
        : texts.has(key)
          ? 'occurs more than once'
          : undefined;
    if (key !== undefined) texts.set(key, textOfField(field));
    if (reason !== undefined) details.push({ field: field.name, reason });
  }
  const values: ControlValues = {
    template: texts.get('template'),
    tag: texts.get('tag'),
    idempotencyKey: texts.get('idempotencyKey'),
    attributes: readJson(texts, details),
    externalId: texts.get('externalId'),
    sendAt: texts.get('sendAt'),
    deliverBefore: texts.get('deliverBefore'),
    locale: texts.get('locale'),
    transactional: readBoolean(texts, 'transactional', details),
    trackOpens: readBoolean(texts, 'trackOpens', details),
    trackClicks: readBoolean(texts, 'trackClicks', details),
    receiveReplies: readBoolean(texts, 'receiveReplies', details),
  };
  if (details.length > 0) throw new Fault('VALIDATION_FAILED', { details });
  return values;
}

function readJson(texts: ReadonlyMap<ControlName, string>, details: FaultDetail[]): unknown {
  const text = texts.get('attributes');
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    details.push({
      field: controlFields.attributes.name,
      reason: 'is not a JSON object such as {"order":"A-1001"}',
    });
    return undefined;
  }
}

function readBoolean(
  texts: ReadonlyMap<ControlName, string>,
  key: BooleanField,
  details: FaultDetail[],
): boolean {
  const text = texts.get(key)?.toLowerCase();
  if (text !== undefined && text !== 'true' && text !== 'false')
    details.push({ field: controlFields[key].name, reason: 'must be true or false' });
  return text === 'true';
}

import type { EmailAddress } from '../foundation/email-address.ts';

/** The parts of a message's frozen content that delivery needs. */
export interface DeliverableContent {
  /** Recipient 0 is To, recipient n is the nth Cc. */
  readonly recipients: readonly EmailAddress[];
  readonly from: { readonly address: EmailAddress; readonly displayName?: string };
  readonly replyTo: EmailAddress | undefined;
  readonly subjectLine: string | undefined;
  readonly previewText: string | undefined;
  readonly values: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Parses stored content; undefined if it was erased or isn't message content. */
export function readContent(stored: unknown): DeliverableContent | undefined {
  if (!isFields(stored) || typeof stored.to !== 'string') return undefined;
  const { from, values } = stored;
  if (!isFields(from) || typeof from.address !== 'string') return undefined;
  const cc = Array.isArray(stored.cc) ? stored.cc.filter((item) => typeof item === 'string') : [];
  return {
    recipients: [stored.to, ...cc] as EmailAddress[],
    from: {
      address: from.address as EmailAddress,
      ...(typeof from.name === 'string' && { displayName: from.name }),
    },
    replyTo: textOf(stored.replyTo) as EmailAddress | undefined,
    subjectLine: textOf(stored.subjectLine),
    previewText: textOf(stored.previewText),
    values: isFields(values) ? onlyTexts(values) : {},
  };
}

/** The secret fields that have a value in the content; undefined if there are none. */
export function secretFieldsOf(
  { values }: DeliverableContent,
  names: readonly string[],
): readonly string[] | undefined {
  const fields = names.filter((name) => Object.hasOwn(values, name));
  return fields.length === 0 ? undefined : fields;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function onlyTexts(values: Fields): Record<string, string> {
  const texts = Object.entries(values).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts) as Record<string, string>;
}

import { hash, sign } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { DkimAlgorithm, DkimKey } from '../../accounts/sender/dkim-key.ts';
import { type RawHeaderField, relaxBody, relaxField, splitMessage } from './canonical-form.ts';

export interface SigningOptions {
  /** The `t=` tag: a time of the message rather than of the attempt, so that every attempt produces the same bytes. */
  readonly signedAt: Date;
}

/**
 * Listed in `h=` once more often than they occur, so that none can be added without breaking the signature (RFC 6376
 * section 8.15).
 */
const oversigned = [
  'From',
  'Reply-To',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
];

/** Signed if present (RFC 6376 section 5.4.1). List headers must be signed for one-click unsubscribe (RFC 8058 section 4). */
const signedIfPresent = [
  'Sender',
  'In-Reply-To',
  'References',
  'Auto-Submitted',
  'List-ID',
  'List-Help',
  'List-Subscribe',
  'List-Post',
  'List-Owner',
  'List-Archive',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Feedback-ID',
];

/**
 * Prepends DKIM signatures (RFC 6376, relaxed/relaxed) to a message, one per key, none covering another. The same
 * message, keys and time give the same bytes.
 * @param mime with CRLF line endings and 7-bit-safe, as the transport sends it
 */
export function signMessage(
  mime: Buffer,
  keys: readonly DkimKey[],
  options: SigningOptions,
): Buffer {
  if (keys.length === 0) return mime;
  const { fields, body } = splitMessage(mime);
  const bodyHash = hash('sha256', relaxBody(body), 'base64');
  const { order, names } = planFor(fields);
  let signed = '';
  for (const index of order) {
    const field = fields[index];
    if (field !== undefined) signed += `${relaxField(field.raw)}\r\n`;
  }
  const signatures = keys.map((key) => {
    const field = unsignedField(key, names, bodyHash, options.signedAt);
    const data = Buffer.from(signed + relaxField(field), 'latin1');
    return `${field}${fold(signatureOf(key, data))}\r\n`;
  });
  return Buffer.concat([Buffer.from(signatures.join(''), 'latin1'), mime]);
}

/** The part of a signature that depends only on the names of the header fields. */
interface SigningPlan {
  /** Indexes of the signed fields, in signing order. */
  readonly order: readonly number[];
  /** The `h=` tag's value, folded. */
  readonly names: string;
}

/** Cached, because messages of one kind have the same fields. */
const plans = new LRUCache<string, SigningPlan>({ max: 1_000 });

function planFor(fields: readonly RawHeaderField[]): SigningPlan {
  let key = '';
  for (const { name } of fields) key += `${name}:`;
  const cached = plans.get(key);
  if (cached !== undefined) return cached;
  const names = namesToSign(fields);
  const plan = { order: signingOrder(fields, names), names: foldNames(names) };
  plans.set(key, plan);
  return plan;
}

function namesToSign(fields: readonly RawHeaderField[]): string[] {
  const counts = new Map<string, number>();
  for (const { name } of fields) counts.set(name, (counts.get(name) ?? 0) + 1);
  const times = (name: string): number => counts.get(name.toLowerCase()) ?? 0;
  return [
    ...oversigned.flatMap((name) => Array<string>(times(name) + 1).fill(name)),
    ...signedIfPresent.flatMap((name) => Array<string>(times(name)).fill(name)),
  ];
}

/** RFC 6376 section 5.4.2: fields with the same name are signed from the bottom up; a missing one counts as empty. */
function signingOrder(fields: readonly RawHeaderField[], names: readonly string[]): number[] {
  const left = Map.groupBy(fields.keys(), (index) => fields[index]?.name);
  return names.flatMap((name) => left.get(name.toLowerCase())?.pop() ?? []);
}

/** The DKIM-Signature field with an empty `b=` at the end, to which the signature is appended. */
function unsignedField(key: DkimKey, names: string, bodyHash: string, signedAt: Date): string {
  return [
    `DKIM-Signature: v=1; a=${key.algorithm}; c=relaxed/relaxed;`,
    ` d=${key.domain}; s=${key.selector};`,
    ` t=${Math.floor(signedAt.getTime() / 1_000)};`,
    ` h=${names};`,
    ` bh=${bodyHash};`,
    ' b=',
  ].join('\r\n');
}

/** `h=` allows folding white space around its colons (RFC 6376 section 3.5). */
function foldNames(names: readonly string[]): string {
  let folded = '';
  let column = 3;
  names.forEach((name, index) => {
    const text = index < names.length - 1 ? `${name}:` : name;
    if (column + text.length > 76) {
      folded += '\r\n  ';
      column = 2;
    }
    folded += text;
    column += text.length;
  });
  return folded;
}

/** `b=` allows folding white space anywhere. */
function fold(signature: string): string {
  return signature.match(/.{1,72}/g)?.join('\r\n  ') ?? '';
}

function signatureOf(key: DkimKey, data: Buffer): string {
  return signers[key.algorithm](key, data).toString('base64');
}

const signers: Readonly<Record<DkimAlgorithm, (key: DkimKey, data: Buffer) => Buffer>> = {
  'rsa-sha256': (key, data) => sign('sha256', data, key.privateKey),
  // RFC 8463 section 3: PureEdDSA over the SHA-256 of the data.
  'ed25519-sha256': (key, data) => sign(null, hash('sha256', data, 'buffer'), key.privateKey),
};

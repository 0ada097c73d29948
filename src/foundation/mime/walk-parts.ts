import { type MimeEntity, readEntity, splitParts } from './mime-entity.ts';

/** A message has more parts than a reader looks at, or they are nested deeper. */
export class TooManyParts extends Error {
  override name = 'TooManyParts';
}

export interface PartLimits {
  readonly parts: number;
  /** Each level is scanned again; programs nest about four. */
  readonly depth: number;
  /** Whether to look into attached messages that aren't encoded. */
  readonly messages: boolean;
  /** Whether to guess a boundary that the header doesn't name right. */
  readonly guess?: boolean;
}

/** A part, and where it is: its places from 1, such as `2.1`; empty for the whole message. */
export interface PlacedPart {
  readonly entity: MimeEntity;
  readonly place: string;
  /** False for a multipart, and for a message that is looked into. */
  readonly isLeaf: boolean;
}

/**
 * All parts of a message, outer before inner.
 * @throws TooManyParts beyond the limits
 */
export function* walkParts(message: Buffer, limits: PartLimits): Generator<PlacedPart> {
  const waiting = [{ bytes: message, place: '', depth: 0 }];
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    seen += 1;
    const { bytes, place, depth } = next;
    const entity = readEntity(bytes);
    const inner = partsOf(entity, limits);
    if (seen + waiting.length + inner.length > limits.parts || depth > limits.depth)
      throw new TooManyParts(
        `has more than ${limits.parts} parts, or parts nested deeper than ${limits.depth}`,
      );
    yield { entity, place, isLeaf: inner.length === 0 };
    for (const [index, part] of [...inner.entries()].reverse())
      waiting.push({
        bytes: part,
        place: place === '' ? `${index + 1}` : `${place}.${index + 1}`,
        depth: depth + 1,
      });
  }
}

function partsOf(entity: MimeEntity, { messages, guess }: PartLimits): readonly Buffer[] {
  const { type, boundary, body } = entity;
  if (type.startsWith('multipart/')) {
    const parts = boundary === undefined ? [] : splitParts(body, boundary).parts;
    if (parts.length > 0 || guess !== true) return parts;
    const guessed = guessBoundary(body);
    return guessed === undefined ? [] : splitParts(body, guessed).parts;
  }
  return messages && isOpenMessage(entity) ? [body] : [];
}

/** RFC 2046 section 5.2.1, RFC 6532 section 3.7. */
function isOpenMessage({ type, encoding }: MimeEntity): boolean {
  const isMessage = type === 'message/rfc822' || type === 'message/global';
  return isMessage && encoding !== 'base64' && encoding !== 'quoted-printable';
}

/** Bytes in which the first delimiter must be. */
const maxPreamble = 4_096;

/** What the first line with two dashes names, if a field of a part follows. */
function guessBoundary(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, maxPreamble);
  return /^--([!-~]{1,70})[ \t]*\r?\nContent-/im.exec(start)?.[1];
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { decodeTransferEncoding } from '../foundation/decode-transfer-encoding.ts';
import { Fault, type FaultDetail } from '../foundation/errors.ts';
import { type MimeEntity, readEntity, splitParts } from '../message/mime-entity.ts';
import { type AttachmentRules, findRefusal } from './attachment-types.ts';

/** Each level is read again; programs nest about four. */
const maxDepth = 8;
const maxParts = 500;
/** The bytes that show a type are at the beginning. */
const maxEncodedBytes = 8_192;

/**
 * Checks the files in a complete message by the rules for attachments.
 * @throws Fault VALIDATION_FAILED that names a refused file
 */
export async function checkRawParts(source: Buffer, rules: AttachmentRules): Promise<void> {
  const details: FaultDetail[] = [];
  let parts = 0;
  const visit = async (bytes: Buffer, depth: number): Promise<void> => {
    parts += 1;
    if (parts > maxParts || depth > maxDepth) throw tooManyParts();
    if (parts % 20 === 0) await nextTurn();
    const entity = readEntity(bytes);
    if (entity.boundary !== undefined) {
      for (const part of splitParts(entity.body, entity.boundary).parts)
        await visit(part, depth + 1);
    } else if (entity.type === 'message/rfc822' && !isEncoded(entity)) {
      await visit(entity.body, depth + 1);
    } else {
      const reason = findProblem(entity, rules);
      if (reason !== undefined) details.push({ field: entity.filename ?? entity.type, reason });
    }
  };
  await visit(source, 0);
  if (details.length > 0) throw new Fault('VALIDATION_FAILED', { details });
}

function isEncoded({ encoding }: MimeEntity): boolean {
  return encoding === 'base64' || encoding === 'quoted-printable';
}

/** Texts without a name are the message itself, which can begin with anything. */
function findProblem(
  { type, filename, body, encoding }: MimeEntity,
  rules: AttachmentRules,
): string | undefined {
  if (filename === undefined && type.startsWith('text/')) return undefined;
  const start = body.toString('latin1', 0, maxEncodedBytes);
  return findRefusal(rules, filename ?? '', type, decodeTransferEncoding(start, encoding));
}

function tooManyParts(): Fault {
  const reason = `has more than ${maxParts} parts, or parts nested deeper than ${maxDepth}`;
  return new Fault('VALIDATION_FAILED', { details: [{ field: 'the message', reason }] });
}

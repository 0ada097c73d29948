import { type MailTurn, mailJob } from '../../base/mime/mail-threads.ts';
import {
  decodedContent,
  type MimeEntity,
  type PlacedPart,
  TooManyParts,
  walkParts,
} from '../../base/mime/mime-entity.ts';
import { Busy, Fault, type FaultDetail } from '../../base/values/errors.ts';
import { findUntrackable } from '../../content/message/raw-html.ts';
import { type AttachmentRules, findRefusal } from './attachment-types.ts';

/** A complete message to check. */
export interface RawParts {
  readonly source: Buffer;
  readonly rules: AttachmentRules;
  /** Members of a send request that ask to track it. */
  readonly tracking: readonly string[];
}

const limits = { parts: 500, depth: 8, messages: true };
const maxDetails = 20;
/** The bytes that show a type are at the beginning. */
const maxEncodedBytes = 8_192;

const check = mailJob(checkRawPartsJob, import.meta.url);

/**
 * Checks that a complete message can be read and tracked, and its files by the rules for attachments.
 * @throws Fault VALIDATION_FAILED that names each refused part, Busy if too many messages wait to be checked
 */
export async function checkRawParts(parts: RawParts, turn: MailTurn): Promise<void> {
  const details = await check(parts, turn).catch((error: unknown): FaultDetail[] => {
    if (error instanceof Busy) throw error;
    return [{ field: 'the message', reason: 'can’t be read; send it with fewer or simpler parts' }];
  });
  if (details.length > 0) throw new Fault('VALIDATION_FAILED', { details });
}

/** Why a message isn't accepted. */
export function checkRawPartsJob({ source, rules, tracking }: RawParts): FaultDetail[] {
  const details: FaultDetail[] = [];
  try {
    for (const part of walkParts(source, limits)) {
      const problem = findProblem(part, rules);
      if (problem !== undefined) details.push(problem);
      if (details.length === maxDetails) return details;
    }
  } catch (error) {
    if (!(error instanceof TooManyParts)) throw error;
    return [{ field: 'the message', reason: error.message }];
  }
  const reason = tracking.length === 0 ? undefined : findUntrackable(source);
  return reason === undefined
    ? details
    : [...details, ...tracking.map((field) => ({ field, reason }))];
}

/** Texts without a name are the message itself, which can begin with anything. */
function findProblem(
  { entity, place, isLeaf }: PlacedPart,
  rules: AttachmentRules,
): FaultDetail | undefined {
  const { type, filenames, ambiguity } = entity;
  const position = place === '' ? 'the message' : `part ${place}`;
  if (ambiguity !== undefined) return { field: position, reason: ambiguity };
  if (!isLeaf) return undefined;
  if (type.startsWith('multipart/'))
    return { field: position, reason: 'has a boundary that begins none of its parts' };
  if (filenames.length === 0 && type.startsWith('text/')) return undefined;
  const reason = findFileProblem(entity, rules);
  return reason === undefined ? undefined : { field: filenames[0] ?? type, reason };
}

/** Mail programs disagree about which of several names counts. */
function findFileProblem(entity: MimeEntity, rules: AttachmentRules): string | undefined {
  const start = decodedContent(entity, maxEncodedBytes);
  for (const name of entity.filenames.length === 0 ? [''] : entity.filenames) {
    const reason = findRefusal(rules, name, entity.type, start);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

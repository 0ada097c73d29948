import { OperatorError } from '../foundation/errors.ts';
import { mebibyte } from '../http/limits/route-limits.ts';
import { maxAttachmentLimit } from '../message/attachment.ts';
import {
  type AttachmentRules,
  defaultAttachmentRules,
  readAttachmentRules,
} from '../submission/attachment-types.ts';
import { readList } from './read-setting.ts';

/** Whole MiB, as bytes. @throws OperatorError */
export function readAttachmentLimit(name: string, text: string): number {
  const limit = Number(text) * mebibyte;
  if (/^\d{1,2}$/.test(text) && limit <= maxAttachmentLimit) return limit;
  const max = maxAttachmentLimit / mebibyte;
  throw new OperatorError(`${name} must be a number of MiB from 0 to ${max}, not "${text}".`);
}

/** @throws OperatorError */
export function readRefusedTypes(name: string, text: string | undefined): AttachmentRules {
  if (text === undefined) return defaultAttachmentRules;
  const rules = readAttachmentRules(readList(text));
  if (typeof rules !== 'string') return rules;
  throw new OperatorError(
    `${name} must list extensions such as .exe, types such as application/x-msdownload, mismatch, default or none, not "${rules}".`,
  );
}

import { isUtf8 } from 'node:buffer';
import { Fault, type FaultDetail } from '../foundation/errors.ts';
import { findInvalidText } from './find-invalid-text.ts';

/** What a body says, and which of its texts cannot be kept. */
export interface BodyJson {
  readonly value: unknown;
  readonly problems: readonly FaultDetail[];
}

const noProblems: readonly FaultDetail[] = Object.freeze([]);

/** True for `application/json`, with parameters or without; a charset changes nothing (RFC 8259 section 11). */
function isJsonType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/**
 * Reads the bytes of a body as JSON (RFC 8259), which is UTF-8 only (section 8.1).
 * @throws Fault VALIDATION_FAILED where there is nothing to look into
 */
export function readBodyJson(bytes: Buffer, contentType: string | undefined): BodyJson {
  if (!isJsonType(contentType)) throw unusableBody('the Content-Type must be application/json');
  if (!isUtf8(bytes)) throw unusableBody('the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusableBody(text.trim() === '' ? 'the body is empty' : 'the body is not valid JSON');
  }
  return { value, problems: text.includes('\\u') ? findInvalidText(value) : noProblems };
}

/** The answer to a body that cannot be looked into at all. */
export function unusableBody(reason: string): Fault {
  return new Fault('VALIDATION_FAILED', { details: [{ field: '', reason }] });
}

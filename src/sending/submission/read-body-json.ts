import { isUtf8 } from 'node:buffer';
import type { Fault, FaultDetail } from '../../base/values/errors.ts';
import { unusableField } from './describe-body-problems.ts';
import { findInvalidText } from './find-invalid-text.ts';

/** A content that came without an encoding. */
export interface DecodedBytes {
  readonly decoded: Buffer;
}

/** A parsed body and the strings in it that can't be stored. */
export interface BodyJson {
  readonly value: unknown;
  readonly problems: readonly FaultDetail[];
  /** Contents of attachments by the placeholder that `value` has instead: of a large body, or one that never was JSON. */
  readonly contents?: ReadonlyMap<string, string | Buffer | DecodedBytes>;
}

const noProblems: readonly FaultDetail[] = Object.freeze([]);

/** True for `application/json`, with or without parameters; charset has no effect (RFC 8259 section 11). */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

export const wrongContentType = 'the Content-Type must be application/json';

/**
 * Checks a JSON body (RFC 8259), which must be UTF-8 (section 8.1), and parses it.
 * @throws Fault VALIDATION_FAILED if it can't be parsed
 */
export function readBodyJson(
  bytes: Buffer,
  contentType: string | undefined,
  parse = (body: Buffer): BodyJson => parseBodyText(body.toString('utf8')),
): BodyJson {
  if (!isJsonType(contentType)) throw unusableBody(wrongContentType);
  if (!isUtf8(bytes)) throw unusableBody('the body is not valid UTF-8');
  return parse(bytes);
}

/** @throws Fault VALIDATION_FAILED if it isn't JSON */
export function parseBodyText(body: string): BodyJson {
  // RFC 8259 section 8.1: a byte order mark may be ignored.
  const text = body.startsWith('\uFEFF') ? body.slice(1) : body;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusableBody(text.trim() === '' ? 'the body is empty' : 'the body is not valid JSON');
  }
  return { value, problems: text.includes('\\u') ? findInvalidText(value) : noProblems };
}

/** The error for a body that can't be parsed. */
export function unusableBody(reason: string): Fault {
  return unusableField('', reason);
}

/** A member of a value that may not be an object; undefined if it has none of its own. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

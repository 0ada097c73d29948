import { domainToUnicode } from 'node:url';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import type { InboxFilter } from './inbox-store.ts';

/** An invalid query parameter; the message names it. */
export class ParameterError extends Error {
  override name = 'ParameterError';
  readonly parameter: string;

  constructor(parameter: string, reason: string) {
    super(`${parameter} ${reason}`);
    this.parameter = parameter;
  }
}

/** A parsed request for messages. */
export interface MessageQuery {
  readonly filter: InboxFilter;
  readonly limit: number;
  readonly waitSeconds: number;
}

type Query = Readonly<Record<string, unknown>>;

const maxWaitSeconds = 120;
const defaultLimit = 50;
const maxLimit = 200;
const maxAddressLength = 320;

/**
 * Parses the parameters of `GET /inbox/api/messages`.
 * @throws ParameterError for the first that is unknown, repeated or malformed
 */
export function readMessageQuery(query: Query): MessageQuery {
  const given = readNames(query, ['to', 'since', 'limit', 'wait']);
  return {
    filter: readFilter(given),
    limit: readNumber('limit', given.get('limit') ?? `${defaultLimit}`, 1, maxLimit),
    waitSeconds: readNumber('wait', given.get('wait') ?? '0', 0, maxWaitSeconds),
  };
}

/**
 * Parses the parameters of `DELETE /inbox/api/messages`.
 * @throws ParameterError like `readMessageQuery`
 */
export function readDeleteQuery(query: Query): InboxFilter {
  return readFilter(readNames(query, ['to']));
}

/** Names are case-insensitive; unknown ones are rejected, so that a misspelled filter isn't ignored. */
function readNames(query: Query, allowed: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(query)) {
    const parameter = allowed.find((candidate) => candidate === name.toLowerCase());
    if (parameter === undefined) {
      throw new ParameterError(name, `is not a parameter; use ${allowed.join(', ')}`);
    }
    if (typeof value !== 'string' || given.has(parameter)) {
      throw new ParameterError(parameter, 'must not be repeated');
    }
    given.set(parameter, value);
  }
  return given;
}

function readFilter(given: ReadonlyMap<string, string>): InboxFilter {
  return { to: readAddress(given.get('to')), since: readTime(given.get('since')) };
}

/** Converts the domain to the form that the SMTP server stores: Unicode if it came as A-labels (RFC 5891). */
function readAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const at = text.lastIndexOf('@');
  if (at < 1 || text.length > maxAddressLength || text.includes('\0') || !text.isWellFormed()) {
    throw new ParameterError('to', 'must be an email address');
  }
  const domain = text.slice(at + 1);
  return `${text.slice(0, at)}@${domainToUnicode(domain) || domain}`;
}

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}T/.test(text) ? parseTimestamp(text) : undefined;
  if (time === undefined) {
    throw new ParameterError('since', 'must be a time such as 2030-01-31T09:30:00Z');
  }
  return time;
}

function readNumber(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d{1,9}$/.test(text) || number < min || number > max) {
    throw new ParameterError(name, `must be a whole number from ${min} to ${max}`);
  }
  return number;
}

import { domainToUnicode } from 'node:url';
import { parseMoment } from '../foundation/parse-moment.ts';
import type { MessageFilter } from './inbox-store.ts';

/** A query parameter that cannot be used; the message names it. */
export class ParameterError extends Error {
  override name = 'ParameterError';
  readonly parameter: string;

  constructor(parameter: string, reason: string) {
    super(`${parameter} ${reason}`);
    this.parameter = parameter;
  }
}

/** What a request for messages asks. */
export interface MessageQuery {
  readonly filter: MessageFilter;
  readonly limit: number;
  readonly waitSeconds: number;
}

type Query = Readonly<Record<string, unknown>>;

export const mostWaitSeconds = 120;
const defaultLimit = 50;
const mostLimit = 200;
const mostAddressLength = 320;

/**
 * Reads the parameters of `GET /inbox/api/messages`.
 * @throws ParameterError for the first that is unknown, repeated or malformed
 */
export function readMessageQuery(query: Query): MessageQuery {
  const given = readNames(query, ['to', 'since', 'limit', 'wait']);
  return {
    filter: readFilter(given),
    limit: readNumber('limit', given.get('limit') ?? `${defaultLimit}`, 1, mostLimit),
    waitSeconds: readNumber('wait', given.get('wait') ?? '0', 0, mostWaitSeconds),
  };
}

/**
 * Reads the parameters of `DELETE /inbox/api/messages`.
 * @throws ParameterError as `readMessageQuery`
 */
export function readDeleteQuery(query: Query): MessageFilter {
  return readFilter(readNames(query, ['to']));
}

/** Names match in any case; one that is not known is refused, so that a misspelt filter does not pass for none. */
function readNames(query: Query, known: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(query)) {
    const parameter = known.find((candidate) => candidate === name.toLowerCase());
    if (parameter === undefined) {
      throw new ParameterError(name, `is not a parameter here; there are ${known.join(', ')}`);
    }
    if (typeof value !== 'string' || given.has(parameter)) {
      throw new ParameterError(parameter, 'must be given once');
    }
    given.set(parameter, value);
  }
  return given;
}

function readFilter(given: ReadonlyMap<string, string>): MessageFilter {
  return { to: readAddress(given.get('to')), since: readTime(given.get('since')) };
}

/** The address with its domain as the SMTP server keeps it: Unicode where it came as A-labels (RFC 5891). */
function readAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const at = text.lastIndexOf('@');
  if (at < 1 || text.length > mostAddressLength || text.includes('\0') || !text.isWellFormed()) {
    throw new ParameterError('to', 'must be an e-mail address');
  }
  const domain = text.slice(at + 1);
  return `${text.slice(0, at)}@${domainToUnicode(domain) || domain}`;
}

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}T/.test(text) ? parseMoment(text) : undefined;
  if (time === undefined) {
    throw new ParameterError('since', 'must be a time such as 2030-01-31T09:30:00Z');
  }
  return time;
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^\d{1,9}$/.test(text) || number < least || number > most) {
    throw new ParameterError(name, `must be a whole number from ${least} to ${most}`);
  }
  return number;
}

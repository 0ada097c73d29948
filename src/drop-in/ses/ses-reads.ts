import { Type } from 'typebox';
import { parseTemplateId } from '../../base/values/ids.ts';
import type { SuppressionReason } from '../../content/suppression/suppression.ts';
import { findSuppressions, readSuppressions } from '../../content/suppression/suppression-store.ts';
import {
  readTemplateFacts,
  readTemplateVersion,
} from '../../content/template/template-page-store.ts';
import {
  type DropInAnswer,
  type DropInCall,
  DropInRefusal,
  type DropInRequest,
} from '../provider/drop-in.ts';
import { MemberTable, mapped, supported } from '../provider/members.ts';
import { findTemplate, readJson } from '../provider/send-messages.ts';
import {
  allowAddress,
  parseSuppressedAddress,
  suppressAddress,
} from '../provider/suppressed-addresses.ts';
import { invalid } from './ses-messages.ts';

const smallBodyBytes = 4 * 1_024;
const address = '/v2/email/suppression/addresses';

const suppressionMembers = new MemberTable({
  EmailAddress: supported(Type.String({ maxLength: 320 })),
  Reason: mapped(Type.Enum(['BOUNCE', 'COMPLAINT']), 'becomes `hard_bounce` or `complaint`'),
});

/** The calls of version 2 that don't send. */
export const sesReads: readonly DropInCall[] = [
  {
    method: 'PUT',
    path: address,
    summary: 'PutSuppressedDestination',
    permission: 'suppressions:write',
    bodyBytes: smallBodyBytes,
    members: { '': suppressionMembers },
    answer: putSuppressed,
  },
  {
    method: 'GET',
    path: address,
    summary:
      'ListSuppressedDestinations, newest first; addresses that unsubscribed or were added by hand are `COMPLAINT`',
    permission: 'suppressions:read',
    query: ['NextToken', 'PageSize', 'Reason'],
    answer: listSuppressed,
  },
  {
    method: 'GET',
    path: `${address}/:EmailAddress`,
    summary: 'GetSuppressedDestination',
    permission: 'suppressions:read',
    answer: getSuppressed,
  },
  {
    method: 'DELETE',
    path: `${address}/:EmailAddress`,
    summary: 'DeleteSuppressedDestination, for all reasons',
    permission: 'suppressions:write',
    answer: async (request) => {
      const allowed = await allowAddress(request, addressOf(request));
      if (!allowed) throw notSuppressed();
      return ok(request, {});
    },
  },
  {
    method: 'GET',
    path: '/v2/email/templates',
    summary: 'ListEmailTemplates: those that are published; their names are their IDs',
    permission: 'templates:read',
    query: ['NextToken', 'PageSize'],
    answer: listTemplates,
  },
  {
    method: 'GET',
    path: '/v2/email/templates/:TemplateName',
    summary: 'GetEmailTemplate: its published version',
    permission: 'templates:read',
    answer: getTemplate,
  },
];

/** A JSON answer of version 2. */
export function ok({ origin }: DropInRequest, body: object): DropInAnswer {
  return { status: 200, body, headers: ['x-amzn-requestid', origin.requestId] };
}

/** Times are seconds since the epoch. */
function secondsOf(time: Date): number {
  return time.getTime() / 1_000;
}

function addressOf({ params }: DropInRequest) {
  return parseSuppressedAddress(params.EmailAddress, 'EmailAddress');
}

function notSuppressed(): DropInRefusal {
  return new DropInRefusal('NOT_FOUND', 'The address isn’t on the account’s suppression list.');
}

async function putSuppressed(request: DropInRequest): Promise<DropInAnswer> {
  const { EmailAddress, Reason } = suppressionMembers.read(readJson(request).value);
  if (Reason === undefined) throw invalid([{ field: 'Reason', reason: 'is required' }]);
  const reason = Reason === 'BOUNCE' ? 'hard_bounce' : 'complaint';
  await suppressAddress(request, parseSuppressedAddress(EmailAddress, 'EmailAddress'), reason);
  return ok(request, {});
}

const bounce = (reason: SuppressionReason): string =>
  reason === 'hard_bounce' ? 'BOUNCE' : 'COMPLAINT';

async function getSuppressed(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const { kysely } = services.database;
  const entries = await readSuppressions(kysely, admission.account.id, addressOf(request));
  const [entry] = entries.filter(({ expiresAt }) => isAhead(request, expiresAt));
  if (entry === undefined) throw notSuppressed();
  const { address: EmailAddress, reason, createdAt, messageId } = entry;
  return ok(request, {
    SuppressedDestination: {
      EmailAddress,
      Reason: bounce(reason),
      LastUpdateTime: secondsOf(createdAt),
      ...(messageId !== null && { Attributes: { MessageId: messageId } }),
    },
  });
}

function isAhead({ services }: DropInRequest, expiresAt: Date | null): boolean {
  return expiresAt === null || expiresAt.getTime() > services.clock.now();
}

/** A time as PostgreSQL writes it. */
const positionTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)?$/;

async function listSuppressed(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, query } = request;
  const limit = pageSizeOf(query, 1_000);
  const after = readPosition(query.get('NextToken'));
  const entries = await findSuppressions(services.database.kysely, admission.account.id, {
    after: after && { createdText: after[0], address: after[1], reason: after[2] },
    limit,
  });
  const reasons = query.getAll('Reason');
  const shown = entries.filter(
    ({ reason, expiresAt }) =>
      isAhead(request, expiresAt) && (reasons.length === 0 || reasons.includes(bounce(reason))),
  );
  const last = entries.length === limit ? entries.at(-1) : undefined;
  const position = last && JSON.stringify([last.createdText, last.address, last.reason]);
  return ok(request, {
    SuppressedDestinationSummaries: shown.map(({ address: EmailAddress, reason, createdAt }) => ({
      EmailAddress,
      Reason: bounce(reason),
      LastUpdateTime: secondsOf(createdAt),
    })),
    ...(position !== undefined && { NextToken: Buffer.from(position).toString('base64url') }),
  });
}

function readPosition(text: string | null): readonly [string, string, string] | undefined {
  if (text === null) return undefined;
  try {
    const [time, ...rest]: unknown[] = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isPosition = rest.every((part) => typeof part === 'string' && !part.includes('\0'));
    if (typeof time === 'string' && positionTime.test(time) && isPosition && rest.length === 2)
      return [time, ...(rest as [string, string])];
  } catch {
    // Not one that this API gave.
  }
  throw invalid([{ field: 'NextToken', reason: 'is not one that this call returned' }]);
}

function pageSizeOf(query: URLSearchParams, max: number): number {
  const text = query.get('PageSize');
  if (text === null) return Math.min(max, 100);
  const size = Number(text);
  if (/^\d{1,4}$/.test(text) && size >= 1 && size <= max) return size;
  throw invalid([{ field: 'PageSize', reason: `must be a number from 1 to ${max}` }]);
}

async function listTemplates(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, query } = request;
  const limit = pageSizeOf(query, 100);
  const after = parseTemplateId(query.get('NextToken') ?? '') ?? '';
  const { kysely } = services.database;
  const page = await readTemplateFacts(kysely, admission.account.id, { after, limit });
  const last = page.length === limit ? page.at(-1) : undefined;
  return ok(request, {
    TemplatesMetadata: page
      .filter(({ publishedVersion }) => publishedVersion !== null)
      .map(({ id, changedAt }) => ({ TemplateName: id, CreatedTimestamp: secondsOf(changedAt) })),
    ...(last !== undefined && { NextToken: last.id }),
  });
}

async function getTemplate(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, params } = request;
  const id = parseTemplateId(await findTemplate(request, params.TemplateName ?? ''));
  const { kysely } = services.database;
  const version = id && (await readTemplateVersion(kysely, admission.account.id, id, 'published'));
  if (id === undefined || version === undefined)
    throw new DropInRefusal('NOT_FOUND', 'The account has no such published template.');
  const { subject: Subject, html, mjml, text: Text } = version.source;
  return ok(request, { TemplateName: id, TemplateContent: { Subject, Html: html ?? mjml, Text } });
}

import { Type } from 'typebox';
import { parseTemplateId } from '../../base/values/ids.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import { findSuppressions } from '../../content/suppression/suppression-store.ts';
import {
  readTemplateFacts,
  type TemplateFacts,
} from '../../content/template/template-page-store.ts';
import { isJsonType } from '../../sending/submission/read-body-json.ts';
import {
  type DropInAnswer,
  type DropInCall,
  DropInRefusal,
  type DropInRequest,
  ok,
  on,
} from '../provider/drop-in.ts';
import { readForm } from '../provider/form-data.ts';
import { invalidMember, MemberTable, mapped, readNumber, supported } from '../provider/members.ts';
import { readTemplate } from '../provider/read-template.ts';
import { readJson } from '../provider/send-messages.ts';
import {
  allowAddress,
  current,
  parseSuppressedAddress,
  readSuppressedAddress,
  suppressAddress,
} from '../provider/suppressed-addresses.ts';
import { toMembers } from './mailgun-form.ts';

/** Of one request to add some. */
const maxAdded = 100;
const maxPage = 1_000;

const address = supported(Type.String({ maxLength: 320 }));
const created_at = 'refused: isn’t supported; the entry is of now';
const allMail = 'can be `*`: all mail that isn’t transactional';

interface SuppressionList {
  readonly name: string;
  readonly reason: SuppressionReason;
  readonly members: MemberTable;
  readonly removed: string;
  /** What an entry has besides its address and time. */
  readonly facts: object;
}

const lists: readonly SuppressionList[] = [
  {
    name: 'bounces',
    reason: 'hard_bounce',
    members: new MemberTable({
      address,
      code: mapped(Type.Enum(['550', 550]), 'can be 550'),
      error: mapped(Type.Enum(['']), 'can be empty'),
      created_at,
    }),
    removed: 'Bounced address has been removed',
    facts: { code: '550', error: '' },
  },
  {
    name: 'unsubscribes',
    reason: 'unsubscribe',
    members: new MemberTable({
      address,
      tag: mapped(Type.Enum(['*']), allMail),
      tags: mapped(Type.Array(Type.Enum(['*']), { maxItems: 1 }), allMail),
      created_at,
    }),
    removed: 'Unsubscribe event has been removed',
    facts: { tags: ['*'] },
  },
  {
    name: 'complaints',
    reason: 'complaint',
    members: new MemberTable({ address, created_at }),
    removed: 'Spam complaint has been removed',
    facts: {},
  },
];

/** The calls that don't send. */
export const mailgunReads: readonly DropInCall[] = [
  on(
    'GET /v3/:domain/templates templates:read: list the account’s templates; their names are their IDs',
    listTemplates,
    { query: ['limit', 'page', 'p'] },
  ),
  on(
    'GET /v3/:domain/templates/:name templates:read: read a template, with its published version if `active` is `yes`',
    getTemplate,
    { query: ['active'] },
  ),
  ...lists.flatMap(callsOf),
];

function callsOf(list: SuppressionList): DropInCall[] {
  const { name, reason, members, removed, facts } = list;
  const path = `/v3/:domain/${name}` as const;
  const notListed = new DropInRefusal('NOT_FOUND', `Address not found in ${name} table`);
  const view = (entry: Suppression) => ({
    address: entry.address,
    ...facts,
    created_at: entry.createdAt.toUTCString(),
  });
  return [
    on(
      `GET ${path} suppressions:read: list addresses with the reason \`${reason}\`, newest first, of the whole account`,
      (request) => listSuppressed(request, list, view),
      { query: ['limit', 'page', 'address', 'at'] },
    ),
    on(
      `GET ${path}/:address suppressions:read: read one of them`,
      async (request) => {
        const [entry] = await readSuppressedAddress(request, addressOf(request), reason);
        if (entry === undefined) throw notListed;
        return ok(view(entry));
      },
      { query: [] },
    ),
    on(
      `POST ${path} suppressions:write: add one, or up to ${maxAdded} as JSON`,
      (request) => addSuppressed(request, list),
      { bodyBytes: 64 * 1_024, members: { '': members } },
    ),
    on(
      `DELETE ${path}/:address suppressions:write: remove one`,
      async (request) => {
        if (!(await allowAddress(request, addressOf(request), reason))) throw notListed;
        return ok({ message: removed, address: addressOf(request) });
      },
      { query: [] },
    ),
  ];
}

function addressOf({ params }: DropInRequest) {
  return parseSuppressedAddress(params.address, 'address');
}

/** What a query asks for. @throws Fault VALIDATION_FAILED */
function pageOf({ query }: DropInRequest) {
  const page = query.get('page') || 'first';
  const limit = readNumber(['limit', query.get('limit')], [1, maxPage], 100);
  if (page !== 'next' && page !== 'first') throw invalidMember('page', 'can be first or next');
  return { limit, isNext: page === 'next' };
}

/** Links to the first page and to what comes after this one. @param place of the last item; empty if there never was one */
function pagesOf(request: DropInRequest, path: string, place: Readonly<Record<string, string>>) {
  const { services, params } = request;
  const base = `${services.publicUrl()}/mailgun/v3/${encodeURIComponent(params.domain ?? '')}/${path}`;
  const limit = String(pageOf(request).limit);
  const link = (given: Readonly<Record<string, string>>): string =>
    `${base}?${new URLSearchParams({ ...given, limit })}`;
  const first = link({ page: 'first' });
  const isPlace = Object.values(place).every((part) => part !== '');
  return { first, next: isPlace ? link({ page: 'next', ...place }) : first };
}

async function listSuppressed(
  request: DropInRequest,
  { name, reason }: SuppressionList,
  view: (entry: Suppression) => object,
): Promise<DropInAnswer> {
  const { services, admission, query } = request;
  const { limit, isNext } = pageOf(request);
  const given = { address: query.get('address') ?? '', at: query.get('at') ?? '' };
  const after = isNext
    ? {
        createdText: readPlace(given.at),
        address: parseSuppressedAddress(given.address, 'address'),
        reason,
      }
    : undefined;
  const { kysely } = services.database;
  const entries = await findSuppressions(kysely, admission.account.id, { reason, after, limit });
  const last = entries.at(-1);
  const place = last ? { address: last.address, at: writePlace(last.createdText) } : given;
  return ok({
    items: current(request, entries).map(view),
    paging: pagesOf(request, name, place),
  });
}

/** Seconds since the epoch, with microseconds, of a time as PostgreSQL writes it. */
function writePlace(createdText: string): string {
  const [, whole = '', micros = '', zone = ''] =
    /^(.{16}:\d\d)(?:\.(\d{1,6}))?([+-][\d:]{2,8})$/.exec(createdText) ?? [];
  return `${Date.parse(`${whole}${zone}`) / 1_000}.${micros.padEnd(6, '0')}`;
}

function readPlace(text: string): string {
  const [, seconds, micros] = /^(\d{1,11})\.(\d{6})$/.exec(text) ?? [];
  if (seconds === undefined) throw invalidMember('at', 'is not one that this call returned');
  const time = new Date(Number(seconds) * 1_000).toISOString();
  return time.replace('.000Z', `.${micros}Z`);
}

async function addSuppressed(
  request: DropInRequest,
  { name, reason, members }: SuppressionList,
): Promise<DropInAnswer> {
  const { body, headers } = request;
  const type = headers['content-type'];
  const given = isJsonType(type) ? readJson(request).value : toMembers(await readForm(body, type));
  const items = Array.isArray(given) ? given : [given];
  if (items.length === 0 || items.length > maxAdded)
    throw invalidMember('', `a request can have 1 to ${maxAdded} addresses`);
  const addresses = items.map((item, index) => {
    const place = Array.isArray(given) ? `[${index}].` : '';
    const entry = members.read(item, place) as { readonly address?: string };
    return parseSuppressedAddress(entry.address, `${place}address`);
  });
  for (const one of addresses) await suppressAddress(request, one, reason);
  const many = addresses.length === 1 ? 'address has' : 'addresses have';
  return ok({ message: `${addresses.length} ${many} been added to the ${name} table` });
}

function viewTemplate({ id, name, changedAt }: TemplateFacts) {
  return { name: id, description: name, createdAt: changedAt.toUTCString(), createdBy: '', id };
}

async function listTemplates(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission, query } = request;
  const { limit, isNext } = pageOf(request);
  const given = parseTemplateId(query.get('p') ?? '') ?? '';
  const { kysely } = services.database;
  const range = { after: isNext ? given : '', limit };
  const page = await readTemplateFacts(kysely, admission.account.id, range);
  return ok({
    items: page.map(viewTemplate),
    paging: pagesOf(request, 'templates', { p: page.at(-1)?.id ?? given }),
  });
}

async function getTemplate(request: DropInRequest): Promise<DropInAnswer> {
  const active = request.query.get('active') ?? 'no';
  if (!['yes', 'no'].includes(active)) throw invalidMember('active', 'must be yes or no');
  const found = await readTemplate(request, request.params.name);
  if (found === undefined) throw new DropInRefusal('NOT_FOUND', 'template not found');
  const { facts, published } = found;
  if (active === 'no' || published === undefined) return ok({ template: viewTemplate(facts) });
  const { version, createdAt, source } = published;
  const content = {
    tag: String(version),
    engine: 'handlebars',
    mjml: source.mjml ?? '',
    createdAt: createdAt.toUTCString(),
    comment: '',
    active: true,
    id: `${facts.id}-${version}`,
    template: source.html ?? source.text ?? '',
    headers: { Subject: source.subject },
  };
  return ok({ template: { ...viewTemplate(facts), version: content } });
}

import { Type } from 'typebox';
import { parseTemplateId, type TemplateId } from '../../base/values/ids.ts';
import type { SuppressionReason } from '../../content/suppression/suppression.ts';
import { findSuppressions, readSuppressions } from '../../content/suppression/suppression-store.ts';
import {
  readTemplateFacts,
  readTemplateVersion,
  readVersionFacts,
  type TemplateFacts,
} from '../../content/template/template-page-store.ts';
import { isJsonType } from '../../sending/submission/read-body-json.ts';
import {
  type DropInAnswer,
  type DropInCall,
  DropInRefusal,
  type DropInRequest,
} from '../provider/drop-in.ts';
import { invalidMembers, MemberTable, mapped, refused, supported } from '../provider/members.ts';
import { findTemplate, readJson } from '../provider/send-messages.ts';
import {
  allowAddress,
  parseSuppressedAddress,
  suppressAddress,
} from '../provider/suppressed-addresses.ts';
import { readForm } from './form-data.ts';
import { toMembers } from './mailgun-messages.ts';

const suppressionBytes = 64 * 1_024;
/** Of one request to add some. */
const maxAdded = 100;
const maxPage = 1_000;
const defaultPage = 100;

const address = supported(Type.String({ maxLength: 320 }));
const noTime = refused('isn’t supported; the entry is of now');
const addressMembers = new MemberTable({ address, created_at: noTime });
const bounceMembers = new MemberTable({
  address,
  code: mapped(Type.Enum(['550', 550]), 'can be 550'),
  error: mapped(Type.Enum(['']), 'can be empty'),
  created_at: noTime,
});
const allMail = 'can be `*`: all mail that isn’t transactional';
const unsubscribeMembers = new MemberTable({
  address,
  tag: mapped(Type.Enum(['*']), allMail),
  tags: mapped(Type.Array(Type.Enum(['*']), { maxItems: 1 }), allMail),
  created_at: noTime,
});

interface SuppressionList {
  readonly name: 'bounces' | 'unsubscribes' | 'complaints';
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
    members: bounceMembers,
    removed: 'Bounced address has been removed',
    facts: { code: '550', error: '' },
  },
  {
    name: 'unsubscribes',
    reason: 'unsubscribe',
    members: unsubscribeMembers,
    removed: 'Unsubscribe event has been removed',
    facts: { tags: ['*'] },
  },
  {
    name: 'complaints',
    reason: 'complaint',
    members: addressMembers,
    removed: 'Spam complaint has been removed',
    facts: {},
  },
];

const templates = '/v3/:domain/templates';

/** The calls that don't send. */
export const mailgunReads: readonly DropInCall[] = [
  {
    method: 'GET',
    path: templates,
    summary: 'list the account’s templates; their names are their IDs',
    permission: 'templates:read',
    query: ['limit', 'page', 'p'],
    answer: listTemplates,
  },
  {
    method: 'GET',
    path: `${templates}/:name`,
    summary: 'read a template, with its published version if `active` is `yes`',
    permission: 'templates:read',
    query: ['active'],
    answer: getTemplate,
  },
  {
    method: 'GET',
    path: `${templates}/:name/versions`,
    summary: 'list the versions of a template, newest first; their tags are their numbers',
    permission: 'templates:read',
    query: ['limit', 'page', 'p'],
    answer: listVersions,
  },
  {
    method: 'GET',
    path: `${templates}/:name/versions/:tag`,
    summary: 'read a version',
    permission: 'templates:read',
    query: [],
    answer: getVersion,
  },
  ...lists.flatMap(callsOf),
];

function callsOf(list: SuppressionList): DropInCall[] {
  const { name, reason, members, removed } = list;
  const path = `/v3/:domain/${name}`;
  const what = `addresses with the reason \`${reason}\``;
  return [
    {
      method: 'GET',
      path,
      summary: `list ${what}, newest first, of the whole account`,
      permission: 'suppressions:read',
      query: ['limit', 'page', 'address', 'at'],
      answer: (request) => listSuppressed(request, list),
    },
    {
      method: 'GET',
      path: `${path}/:address`,
      summary: 'read one of them',
      permission: 'suppressions:read',
      query: [],
      answer: (request) => getSuppressed(request, list),
    },
    {
      method: 'POST',
      path,
      summary: `add one, or up to ${maxAdded} as JSON`,
      permission: 'suppressions:write',
      bodyBytes: suppressionBytes,
      members: { '': members },
      answer: (request) => addSuppressed(request, list),
    },
    {
      method: 'DELETE',
      path: `${path}/:address`,
      summary: 'remove one',
      permission: 'suppressions:write',
      query: [],
      answer: async (request) => {
        if (!(await allowAddress(request, addressOf(request), reason))) throw notListed(name);
        return ok({ message: removed, address: addressOf(request) });
      },
    },
  ];
}

function ok(body: object): DropInAnswer {
  return { status: 200, body };
}

function addressOf({ params }: DropInRequest) {
  return parseSuppressedAddress(params.address, 'address');
}

function notListed(name: string): DropInRefusal {
  return new DropInRefusal('NOT_FOUND', `Address not found in ${name} table`);
}

function isAhead({ services }: DropInRequest, expiresAt: Date | null): boolean {
  return expiresAt === null || expiresAt.getTime() > services.clock.now();
}

/** The SDK puts the query of a page into `page` when it lists versions. */
function pageQueryOf({ query }: DropInRequest): URLSearchParams {
  const page = query.get('page') ?? '';
  return page.startsWith('?') ? new URLSearchParams(page) : query;
}

/** @throws Fault VALIDATION_FAILED */
function limitOf(query: URLSearchParams): number {
  const text = query.get('limit') ?? String(defaultPage);
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= maxPage) return Number(text);
  throw invalidMembers([{ field: 'limit', reason: `must be a number from 1 to ${maxPage}` }]);
}

/** @returns whether the page after the given place is asked for. @throws Fault VALIDATION_FAILED */
function isNext(query: URLSearchParams): boolean {
  const page = query.get('page') || 'first';
  if (page === 'next' || page === 'first') return page === 'next';
  throw invalidMembers([{ field: 'page', reason: 'can be first or next' }]);
}

/** Links to the first page and to what comes after this one. @param place of the last item; empty if there never was one */
function pagesOf(request: DropInRequest, path: string, place: Readonly<Record<string, string>>) {
  const { services, params } = request;
  const base = `${services.publicUrl()}/mailgun/v3/${encodeURIComponent(params.domain ?? '')}/${path}`;
  const limit = String(limitOf(pageQueryOf(request)));
  const link = (given: Readonly<Record<string, string>>): string =>
    `${base}?${new URLSearchParams({ ...given, limit })}`;
  const first = link({ page: 'first' });
  const isPlace = Object.values(place).every((part) => part !== '');
  return { first, next: isPlace ? link({ page: 'next', ...place }) : first };
}

async function listSuppressed(
  request: DropInRequest,
  { name, reason, facts }: SuppressionList,
): Promise<DropInAnswer> {
  const { services, admission } = request;
  const query = pageQueryOf(request);
  const limit = limitOf(query);
  const given = { address: query.get('address') ?? '', at: query.get('at') ?? '' };
  const after = isNext(query)
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
    items: entries
      .filter(({ expiresAt }) => isAhead(request, expiresAt))
      .map((entry) => ({
        address: entry.address,
        ...facts,
        created_at: entry.createdAt.toUTCString(),
      })),
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
  if (seconds === undefined)
    throw invalidMembers([{ field: 'at', reason: 'is not one that this call returned' }]);
  const time = new Date(Number(seconds) * 1_000).toISOString();
  return time.replace('.000Z', `.${micros}Z`);
}

async function getSuppressed(
  request: DropInRequest,
  { name, reason, facts }: SuppressionList,
): Promise<DropInAnswer> {
  const { services, admission } = request;
  const { kysely } = services.database;
  const entries = await readSuppressions(kysely, admission.account.id, addressOf(request));
  const entry = entries.find((one) => one.reason === reason && isAhead(request, one.expiresAt));
  if (entry === undefined) throw notListed(name);
  const { address: found, createdAt } = entry;
  return ok({ address: found, ...facts, created_at: createdAt.toUTCString() });
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
    throw invalidMembers([{ field: '', reason: `a request can have 1 to ${maxAdded} addresses` }]);
  const addresses = items.map((item, index) => {
    const place = Array.isArray(given) ? `[${index}].` : '';
    const entry = members.read(item, place) as { readonly address?: string };
    return parseSuppressedAddress(entry.address, `${place}address`);
  });
  for (const one of addresses) await suppressAddress(request, one, reason);
  const many = addresses.length === 1 ? 'address has' : 'addresses have';
  return ok({ message: `${addresses.length} ${many} been added to the ${name} table` });
}

/** The template with the name of a path. @throws DropInRefusal NOT_FOUND */
async function templateOf(request: DropInRequest): Promise<TemplateFacts> {
  const { services, admission, params } = request;
  const id = parseTemplateId(await findTemplate(request, params.name ?? ''));
  const { kysely } = services.database;
  const [template] =
    id === undefined ? [] : await readTemplateFacts(kysely, admission.account.id, { id });
  if (template === undefined) throw new DropInRefusal('NOT_FOUND', 'template not found');
  return template;
}

function viewTemplate({ id, name, changedAt }: TemplateFacts) {
  return { name: id, description: name, createdAt: changedAt.toUTCString(), createdBy: '', id };
}

interface VersionView {
  readonly version: number;
  readonly createdAt: Date;
  readonly published: boolean;
}

function viewVersion(id: TemplateId, { version, createdAt, published }: VersionView) {
  return {
    tag: String(version),
    engine: 'handlebars',
    mjml: '',
    createdAt: createdAt.toUTCString(),
    comment: '',
    active: published,
    id: `${id}-${version}`,
  };
}

async function listTemplates(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const query = pageQueryOf(request);
  const limit = limitOf(query);
  const given = parseTemplateId(query.get('p') ?? '') ?? '';
  const after = isNext(query) ? given : '';
  const { kysely } = services.database;
  const page = await readTemplateFacts(kysely, admission.account.id, { after, limit });
  return ok({
    items: page.map(viewTemplate),
    paging: pagesOf(request, 'templates', { p: page.at(-1)?.id ?? given }),
  });
}

async function getTemplate(request: DropInRequest): Promise<DropInAnswer> {
  const active = request.query.get('active') ?? 'no';
  if (!['yes', 'no'].includes(active))
    throw invalidMembers([{ field: 'active', reason: 'must be yes or no' }]);
  const template = await templateOf(request);
  const version = active === 'yes' ? await readVersion(request, template.id, 'published') : {};
  return ok({ template: { ...viewTemplate(template), ...version } });
}

/** A version with its content. */
async function readVersion(
  { services, admission }: DropInRequest,
  id: TemplateId,
  wanted: number | 'published',
) {
  const { kysely } = services.database;
  const found = await readTemplateVersion(kysely, admission.account.id, id, wanted);
  if (found === undefined || found.trial) return {};
  const { subject, html, mjml = '', text } = found.source;
  const view = viewVersion(id, found);
  return {
    version: { ...view, mjml, template: html ?? text ?? '', headers: { Subject: subject } },
  };
}

const maxVersion = 2 ** 31 - 1;

function versionOf(text: string): number | undefined {
  const version = Number(text);
  return /^[1-9]\d{0,9}$/.test(text) && version <= maxVersion ? version : undefined;
}

async function listVersions(request: DropInRequest): Promise<DropInAnswer> {
  const { services, admission } = request;
  const query = pageQueryOf(request);
  const limit = limitOf(query);
  const given = query.get('p') ?? '';
  const before = isNext(query) ? versionOf(given) : undefined;
  if (isNext(query) && before === undefined)
    throw invalidMembers([{ field: 'p', reason: 'is not one that this call returned' }]);
  const template = await templateOf(request);
  const { kysely } = services.database;
  const { id: accountId } = admission.account;
  const versions = await readVersionFacts(kysely, accountId, template.id, { before, limit });
  const p = String(versions.at(-1)?.version ?? given);
  return ok({
    template: {
      ...viewTemplate(template),
      versions: versions.map((version) => viewVersion(template.id, version)),
    },
    paging: pagesOf(request, `templates/${template.id}/versions`, { p }),
  });
}

async function getVersion(request: DropInRequest): Promise<DropInAnswer> {
  const template = await templateOf(request);
  const number = versionOf(request.params.tag ?? '');
  const version = number === undefined ? {} : await readVersion(request, template.id, number);
  if (!('version' in version)) throw new DropInRefusal('NOT_FOUND', 'template version not found');
  return ok({ template: { ...viewTemplate(template), ...version } });
}

import { Type } from 'typebox';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  NamedObject,
  OptionalText,
  StrictObject,
  StringMap,
  strict,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { comparableAddress } from '../../../base/values/email-address.ts';
import {
  type FileContact,
  readContactHeader,
  writeContactFile,
} from '../../../content/list/contact-file.ts';
import {
  maxContactFieldLength,
  maxContactFieldNameLength,
  maxContactFields,
} from '../../../content/list/contact-limits.ts';
import {
  findListsOf,
  readContact,
  readContactPage,
  removeContact,
  writeContacts,
} from '../../../content/list/contact-store.ts';
import { type ContactList, readLists, removeList } from '../../../content/list/list-store.ts';
import { applyEntry } from '../../manifest/apply-manifest.ts';
import { ListSchema } from '../../manifest/manifest-schema.ts';
import { listSection } from '../../manifest/resource-sections.ts';
import { invalidField } from '../answer/problem.ts';
import { sendExport } from '../answer/send-download.ts';
import { viewOf } from '../answer/view-of.ts';
import { InvalidImportFile, type RowReader } from '../import/import-csv.ts';
import { importRoutes } from '../import/import-routes.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { entryScope, requireResource } from '../save-resource.ts';

const ListView = NamedObject('ContactList', {
  id: Type.String(),
  name: Type.String(),
  folderName: Type.String(),
  description: Type.String(),
  size: Whole('Number of contacts.'),
  createdAt: Time('When it was created.'),
  modifiedAt: Time('When the list or its contacts last changed.'),
});

function viewList(list: ContactList) {
  return viewOf(ListView)({ ...list, size: list.sourceSize });
}

const listOf = resourceOf({
  kind: 'list',
  unrecorded: ['modifiedAt'],
  id: 'listId',
  async read(transaction, { params }) {
    const lists = await readLists(transaction, params.accountId);
    const found = lists.find(({ id }) => id === params.listId);
    return found && viewList(found);
  },
});

/** @throws Problem if the list doesn't exist */
async function requireList(call: OperationCall, transaction?: DatabaseTransaction): Promise<void> {
  await requireResource(call, listOf(call), transaction);
}

export const listRoutes = resourceRoutes({
  path: '/accounts/:accountId/lists/:listId',
  access: { read: 'lists:read', write: 'lists:write' },
  view: ListView,
  resource: listOf,
  list: {
    id: 'listLists',
    summary: 'List contact lists',
    filters: {
      contact: OptionalText('Only lists with this address. Requires `contacts:read`.', {
        maxLength: 320,
      }),
    },
    key: 'id',
    async read({ kysely, params, query: { contact }, requirePermission }, { after }) {
      const all = await readLists(kysely, params.accountId);
      const later = all.filter(({ id }) => id > after).map(viewList);
      if (contact === undefined) return later;
      await requirePermission('contacts:read');
      const ids = await findListsOf(kysely, params.accountId, comparableAddress(contact));
      return later.filter(({ id }) => ids.includes(id));
    },
  },
  get: { id: 'getList', summary: 'Get a contact list' },
  put: {
    id: 'putList',
    summary: 'Create or update a contact list',
    description: 'When updating, omitted members stay unchanged; defaults apply to new lists only.',
    body: Type.Omit(ListSchema, ['id', 'csv'], strict),
    write: (call) => (transaction) =>
      applyEntry(
        listSection,
        { ...call.body, id: call.params.listId },
        entryScope(call, transaction),
      ),
  },
  remove: {
    id: 'deleteList',
    summary: 'Delete a contact list and its contacts',
    write: (call) => (transaction) =>
      removeList(transaction, call.params.accountId, call.params.listId),
  },
});

const ContactView = NamedObject('Contact', {
  email: Type.String(),
  fields: StringMap('The contact’s fields by column name.'),
  createdAt: Time('When it was added.'),
});

const contactOf = resourceOf({
  kind: 'contact',
  unrecorded: ['email', 'fields'],
  id: 'listId',
  read: (transaction, { params }) => readContact(transaction, params, params.email),
});

export const contactRoutes = resourceRoutes({
  path: '/accounts/:accountId/lists/:listId/contacts/:email',
  access: { read: 'contacts:read', write: 'contacts:write' },
  view: ContactView,
  resource: contactOf,
  list: {
    id: 'listContacts',
    summary: 'List contacts, ordered by address',
    filters: {
      startsWith: OptionalText('Prefix of the address, case-insensitive.', { maxLength: 320 }),
    },
    key: 'email',
    async read(call, page) {
      await requireList(call);
      const prefix = call.query.startsWith?.toLowerCase();
      const { kysely } = call;
      return readContactPage(kysely, call.params, { ...page, prefix });
    },
  },
  get: { id: 'getContact', summary: 'Get a contact' },
  put: {
    id: 'putContact',
    summary: 'Create or update a contact',
    body: StrictObject({
      fields: StringMap('The contact’s fields by column name.', {
        members: maxContactFields,
        minNameLength: 1,
        nameLength: maxContactFieldNameLength,
        length: maxContactFieldLength,
      }),
    }),
    size: 'values',
    async write(call) {
      const { fields } = call.body;
      for (const [name, value] of Object.entries(fields)) {
        const text = `${name}${value}`;
        if (text.includes('\0')) throw invalidField(`fields.${name}`, 'contains a NUL character');
        // Files with it are rejected, so this contact couldn't be imported again.
        if (text.includes('\ufffd'))
          throw invalidField(`fields.${name}`, 'contains U+FFFD, which stands for unreadable text');
      }
      await requireList(call);
      const contact = { email: call.params.email, fields };
      return async (transaction) => {
        // The list may have been deleted in the meantime.
        await requireList(call, transaction);
        await writeContacts(transaction, call.params, [contact]);
      };
    },
  },
  remove: {
    id: 'deleteContact',
    summary: 'Remove a contact from a list',
    write: (call) => (transaction) => removeContact(transaction, call.params, call.params.email),
  },
});

export const exportContacts = defineOperation({
  id: 'exportContacts',
  summary: 'Export the contacts of a list as CSV',
  description:
    'The file can be imported again. It has a column for every field that any contact has.',
  produces: 'text/csv',
  conflict: true,
  async handle(call) {
    await requireList(call);
    const file = await writeContactFile(call.kysely, call.params);
    sendExport(call, `${call.params.listId}.csv`, file);
  },
});

/** @throws InvalidImportFile */
function openContacts(header: readonly string[]): RowReader<FileContact> {
  const read = readContactHeader(header);
  if (typeof read === 'string') throw new InvalidImportFile(read);
  return { read, keyOf: ({ email }) => email };
}

export const contactImportRoutes = importRoutes({
  path: '/accounts/:accountId/lists/:listId/imports',
  access: { read: 'contacts:read', write: 'contacts:write' },
  list: { id: 'listImports', summary: 'List recent imports into a list, newest first' },
  get: { id: 'getImport', summary: 'Get a contact import' },
  put: {
    id: 'putImport',
    summary: 'Import contacts from a CSV file',
    description:
      'The first row contains the column names, including `email`; values are separated by commas, semicolons or tabs. Returns after the upload and imports the file in the background. Poll this URL for progress. Contacts that aren’t in the file are kept. Repeating an ID continues an import that stopped, and otherwise imports nothing.',
  },
  rejected: {
    id: 'downloadRejectedContacts',
    summary: 'Download the rejected rows of a contact import',
    description:
      'The rejected rows as uploaded, with their line and problem. Correct them and import the file again; the two added columns are ignored.',
  },
  listOf: (call) => call.params.listId,
  requireTarget: requireList,
  event: 'contacts_imported',
  open: openContacts,
  write: (transaction, contacts, { params }) => writeContacts(transaction, params, contacts),
});

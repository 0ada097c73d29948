import { Type } from 'typebox';
import { StringMap, strict, Time } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { writeContactFile } from '../../list/contact-file.ts';
import {
  maxContactFieldLength,
  maxContactFieldNameLength,
  maxContactFields,
} from '../../list/contact-limits.ts';
import {
  readContact,
  readContactPage,
  removeContact,
  writeContacts,
} from '../../list/contact-store.ts';
import { invalidField } from '../answer/problem.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { requireList } from './manage-lists-routes.ts';

const ContactView = Type.Object(
  {
    email: Type.String(),
    fields: StringMap('The contact’s fields by column name.'),
    createdAt: Time('When it was added.'),
  },
  { ...strict, title: 'Contact' },
);

function listKeyOf(call: OperationCall) {
  return { accountId: accountOf(call).id, listId: call.params.listId };
}

function contactOf(call: OperationCall) {
  return {
    kind: 'contact',
    unrecorded: ['email', 'fields'] as const,
    id: call.params.listId,
    read: (transaction: DatabaseTransaction) =>
      readContact(transaction, listKeyOf(call), call.params.email),
  };
}

export const contactRoutes = resourceRoutes({
  path: '/accounts/:accountId/lists/:listId/contacts/:email',
  access: { read: 'contacts:read', write: 'contacts:write' },
  view: ContactView,
  resource: contactOf,
  list: {
    id: 'listContacts',
    summary: 'List contacts, ordered by address',
    filters: {
      startsWith: Type.Optional(
        Type.String({ description: 'Prefix of the address, case-insensitive.', maxLength: 320 }),
      ),
    },
    key: 'email',
    async read(call, page) {
      await requireList(call);
      const prefix = call.query.startsWith?.toLowerCase();
      const { kysely } = call.dependencies.database;
      return readContactPage(kysely, listKeyOf(call), { ...page, prefix });
    },
  },
  get: { id: 'getContact', summary: 'Get a contact' },
  put: {
    id: 'putContact',
    summary: 'Create or update a contact',
    body: Type.Object(
      {
        fields: StringMap('The contact’s fields by column name.', {
          members: maxContactFields,
          minNameLength: 1,
          nameLength: maxContactFieldNameLength,
          length: maxContactFieldLength,
        }),
      },
      strict,
    ),
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
        await writeContacts(transaction, listKeyOf(call), [contact]);
      };
    },
  },
  remove: {
    id: 'deleteContact',
    summary: 'Remove a contact from a list',
    write: (call) => (transaction) =>
      removeContact(transaction, listKeyOf(call), call.params.email),
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
    const file = await writeContactFile(call.dependencies.database.kysely, listKeyOf(call));
    call.reply
      .header('content-disposition', `attachment; filename="${call.params.listId}.csv"`)
      .type('text/csv; charset=utf-8')
      .send(file);
    return undefined;
  },
});

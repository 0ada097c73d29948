import { type Static, Type } from 'typebox';
import { strict, Time } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { Wire } from '../../foundation/wire.ts';
import { type ContactList, readLists, removeList } from '../../list/list-store.ts';
import { ListSchema } from '../../manifest/manifest-schema.ts';
import { applyManifestPart } from '../apply-manifest-part.ts';
import { accountOf, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { requireResource } from '../save-resource.ts';

const ListView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    folderName: Type.String(),
    description: Type.String(),
    size: Type.Integer({ description: 'Number of contacts.' }),
    createdAt: Time('When it was created.'),
    modifiedAt: Time('When the list or its contacts last changed.'),
  },
  { ...strict, title: 'ContactList' },
);

function viewList(list: ContactList): Wire<Static<typeof ListView>> {
  const { id, name, folderName, description, sourceSize, createdAt, modifiedAt } = list;
  return { id, name, folderName, description, size: sourceSize, createdAt, modifiedAt };
}

function listOf(call: OperationCall) {
  const { listId } = call.params;
  return {
    kind: 'list',
    unrecorded: ['modifiedAt'] as const,
    id: listId,
    async read(transaction: DatabaseTransaction) {
      const lists = await readLists(transaction, accountOf(call).id);
      const found = lists.find(({ id }) => id === listId);
      return found && viewList(found);
    },
  };
}

/** @throws Problem if the list doesn't exist */
export async function requireList(
  call: OperationCall,
  transaction?: DatabaseTransaction,
): Promise<void> {
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
    key: 'id',
    async read(call, { after }) {
      const all = await readLists(call.dependencies.database.kysely, accountOf(call).id);
      return all.filter(({ id }) => id > after).map(viewList);
    },
  },
  get: { id: 'getList', summary: 'Get a contact list' },
  put: {
    id: 'putList',
    summary: 'Create or update a contact list',
    description: 'When updating, omitted members stay unchanged; defaults apply to new lists only.',
    body: Type.Omit(ListSchema, ['id', 'csv'], strict),
    write: (call) => (transaction) =>
      applyManifestPart(call, transaction, { lists: [{ ...call.body, id: call.params.listId }] }),
  },
  remove: {
    id: 'deleteList',
    summary: 'Delete a contact list and its contacts',
    write: (call) => (transaction) =>
      removeList(transaction, accountOf(call).id, call.params.listId),
  },
});

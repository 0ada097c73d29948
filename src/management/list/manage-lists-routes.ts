import { type Static, Type } from 'typebox';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { type ContactList, readLists, removeList } from '../../list/list-store.ts';
import { ListSchema } from '../../manifest/manifest-schema.ts';
import { strict, Time } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { applyManifestPart } from '../apply-manifest-part.ts';
import { removeResource, requireResource, saveResource } from '../change-resource.ts';
import { accountOf, defineOperation, type OperationCall, type Wire } from '../operation.ts';

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

export function listChange(call: OperationCall) {
  const { listId } = call.params;
  return {
    kind: 'list',
    id: listId,
    async read(transaction: DatabaseTransaction) {
      const lists = await readLists(transaction, accountOf(call).id);
      const found = lists.find(({ id }) => id === listId);
      return found && viewList(found);
    },
  };
}

/** @throws Problem if the list doesn't exist */
export async function requireList(call: OperationCall): Promise<void> {
  await requireResource(call, listChange(call));
}

export const listLists = defineOperation({
  id: 'listLists',
  summary: 'List contact lists',
  query: pageQuery({}),
  answer: pageOf(ListView),
  async handle(call) {
    const [after = ''] = readCursor(call.query, 'text') ?? [];
    const all = await readLists(call.dependencies.database.kysely, accountOf(call).id);
    const rows = all.filter(({ id }) => id > after);
    return toPage(rows, pageSizeOf(call.query), viewList, ({ id }) => [id]);
  },
});

export const getList = defineOperation({
  id: 'getList',
  summary: 'Get a contact list',
  answer: ListView,
  handle: (call) => requireResource(call, listChange(call)),
});

export const putList = defineOperation({
  id: 'putList',
  summary: 'Create or update a contact list',
  description: 'When updating, omitted members stay unchanged; defaults apply to new lists only.',
  body: Type.Omit(ListSchema, ['id', 'csv'], strict),
  answer: ListView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...listChange(call),
      write: async (transaction) => {
        await applyManifestPart(call, transaction, {
          lists: [{ ...call.body, id: call.params.listId }],
        });
      },
    }),
});

export const deleteList = defineOperation({
  id: 'deleteList',
  summary: 'Delete a contact list and its contacts',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...listChange(call),
      write: (transaction) => removeList(transaction, accountOf(call).id, call.params.listId),
    }),
});

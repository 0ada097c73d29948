import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Type } from 'typebox';
import { pageOf } from '../answer/page.ts';
import { notFound, Problem } from '../answer/problem.ts';
import { strict, Time, Uuid } from '../answer/schema-parts.ts';
import { atMost } from '../at-most.ts';
import { inTransaction, record } from '../change-resource.ts';
import { accountOf, type Call, endpoint } from '../endpoint.ts';
import { beginImport, readImport, readImports, saveProgress } from './contact-import-store.ts';
import { recountList, writeContacts } from './contact-page-store.ts';
import { type ImportCounts, importContacts, UnusableFile } from './import-contacts.ts';
import { requireList } from './manage-lists-routes.ts';

/** Bytes of a file. */
const largestFile = 1024 ** 3;

const progress = {
  state: Type.Enum(['running', 'done', 'failed']),
  bytesTotal: Type.Integer(),
  bytesRead: Type.Integer({ description: 'How far the file was read.' }),
  rowsRead: Type.Integer(),
  rowsWritten: Type.Integer({
    description: 'Contacts that were added or changed, or were so already.',
  }),
  rowsWrong: Type.Integer({ description: 'Rows that could not be used and were left out.' }),
  problems: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }, strict), {
    description: 'Of the first wrong rows.',
  }),
  createdAt: Time('When it began.'),
  changedAt: Time('When it came further last.'),
};

const ImportView = Type.Object(progress, { ...strict, title: 'ContactImport' });
const ListedImportView = Type.Object(
  { id: Uuid, ...progress },
  { ...strict, title: 'ListedContactImport' },
);

function nameOf(call: Call) {
  const { listId, importId } = call.params;
  return { accountId: accountOf(call).id, listId, importId };
}

async function view(call: Call) {
  const found = await readImport(call.parts.database.kysely, nameOf(call));
  if (found === undefined) throw notFound('import');
  const { state, bytesTotal, bytesRead, rowsRead, rowsWritten, rowsWrong, problems } = found;
  const { createdAt, changedAt } = found;
  return {
    state,
    bytesTotal,
    bytesRead,
    rowsRead,
    rowsWritten,
    rowsWrong,
    problems: [...problems],
    createdAt,
    changedAt,
  };
}

export const putImport = endpoint({
  id: 'putImport',
  summary: 'Import contacts from a CSV file',
  description:
    'The first row names the columns, one of them `email`. Answers when the file is here; then its import goes on, and this address tells how far it is. Contacts that the file does not name stay. The same id again imports nothing.',
  body: Type.String({ description: 'The file.' }),
  accepts: 'text/csv',
  answer: ImportView,
  status: 202,
  async handle(call) {
    await requireList(call);
    const { body } = call as { body: unknown };
    if (!(body instanceof Readable))
      throw new Problem('unsupported-media-type', 'Send the file as text/csv');
    if ((await readImport(call.parts.database.kysely, nameOf(call))) !== undefined) {
      body.resume();
      return view(call);
    }
    const folder = await mkdtemp(join(tmpdir(), 'signalpost-import-'));
    const file = join(folder, 'contacts.csv');
    try {
      // The network's pace is not that of the database: the file waits on disk, not in memory.
      await pipeline(body, atMost(largestFile), createWriteStream(file, { mode: 0o600 }));
      const { size } = await stat(file);
      const began = await inTransaction(call, async (transaction) => {
        const fresh = await beginImport(transaction, nameOf(call), size);
        if (fresh)
          await record(call, transaction, 'contacts_imported', call.params.listId, { size });
        return fresh;
      });
      if (!began) {
        await rm(folder, { recursive: true, force: true });
        return view(call);
      }
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    void runImport(call, file).finally(() => rm(folder, { recursive: true, force: true }));
    return view(call);
  },
});

/** Never rejects: what became of it is in the database, or is seen there for want of news. */
async function runImport(call: Call, file: string): Promise<void> {
  const { kysely } = call.parts.database;
  const name = nameOf(call);
  const counts: ImportCounts = {
    bytesRead: 0,
    rowsRead: 0,
    rowsWritten: 0,
    rowsWrong: 0,
    problems: [],
  };
  const save = (state: 'running' | 'done' | 'failed') =>
    saveProgress(kysely, name, { ...counts, state });
  try {
    await importContacts(file, counts, async (contacts) => {
      await writeContacts(kysely, name, contacts);
      await save('running');
    });
    await recountList(kysely, name);
    await save('done');
  } catch (error) {
    if (error instanceof UnusableFile) counts.problems.unshift({ line: 0, reason: error.message });
    else call.request.log.error({ err: error }, 'an import of contacts failed');
    await recountList(kysely, name).catch(() => undefined);
    await save('failed').catch(() => undefined);
  }
}

export const getImport = endpoint({
  id: 'getImport',
  summary: 'Ask how far an import is',
  answer: ImportView,
  handle: view,
});

export const listImports = endpoint({
  id: 'listImports',
  summary: 'List the imports into a list, newest first',
  answer: pageOf(ListedImportView),
  async handle(call) {
    await requireList(call);
    const { accountId, listId } = nameOf(call);
    const items = await readImports(call.parts.database.kysely, { accountId, listId });
    return {
      items: items.map((item) => ({ ...item, problems: [...item.problems] })),
      nextCursor: null,
    };
  },
});

import { type Static, Type } from 'typebox';
import { strict, Time, Uuid } from '../../foundation/common-schemas.ts';
import type { Wire } from '../../foundation/wire.ts';
import { notFound } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import {
  type ImportKey,
  type ImportProgress,
  type ImportTarget,
  readImport,
  readImports,
} from './import-progress-store.ts';

const progress = {
  state: Type.Enum(['running', 'done', 'failed']),
  bytesTotal: Type.Integer(),
  bytesRead: Type.Integer({ description: 'How far the file was read.' }),
  rowsRead: Type.Integer(),
  rowsWritten: Type.Integer({
    description: 'Things that were added or changed, or were so already.',
  }),
  rowsWrong: Type.Integer({ description: 'Rows that could not be used and were left out.' }),
  problems: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }, strict), {
    description: 'Of the first wrong rows.',
  }),
  createdAt: Time('When it began.'),
  changedAt: Time('When it came further last.'),
};

export const ImportView = Type.Object(progress, { ...strict, title: 'FileImport' });
export const ListedImportView = Type.Object(
  { id: Uuid, ...progress },
  { ...strict, title: 'ListedFileImport' },
);

export function viewProgress(found: ImportProgress): Wire<Static<typeof ImportView>> {
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

/** The last imports into a target, newest first. */
export async function viewImports(call: Pick<OperationCall, 'dependencies'>, target: ImportTarget) {
  const items = await readImports(call.dependencies.database.kysely, target);
  return { items: items.map((item) => ({ id: item.id, ...viewProgress(item) })), nextCursor: null };
}

/** @throws Problem where there is no such import */
export async function requireImport(
  call: Pick<OperationCall, 'dependencies'>,
  name: ImportKey,
): Promise<Wire<Static<typeof ImportView>>> {
  const found = await readImport(call.dependencies.database.kysely, name);
  if (found === undefined) throw notFound('import');
  return viewProgress(found);
}

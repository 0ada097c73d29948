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
  bytesRead: Type.Integer({ description: 'Bytes of the file processed.' }),
  rowsRead: Type.Integer(),
  rowsWritten: Type.Integer({
    description: 'Rows added, updated or already up to date.',
  }),
  rowsWrong: Type.Integer({ description: 'Invalid rows, which were skipped.' }),
  problems: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }, strict), {
    description: 'Problems of the first invalid rows.',
  }),
  createdAt: Time('When it started.'),
  changedAt: Time('When it last made progress.'),
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

/** The most recent imports into a target, newest first. */
export async function viewImports(call: Pick<OperationCall, 'dependencies'>, target: ImportTarget) {
  const items = await readImports(call.dependencies.database.kysely, target);
  return { items: items.map((item) => ({ id: item.id, ...viewProgress(item) })), nextCursor: null };
}

/** @throws Problem if the import doesn't exist */
export async function requireImport(
  call: Pick<OperationCall, 'dependencies'>,
  name: ImportKey,
): Promise<Wire<Static<typeof ImportView>>> {
  const found = await readImport(call.dependencies.database.kysely, name);
  if (found === undefined) throw notFound('import');
  return viewProgress(found);
}

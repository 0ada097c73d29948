import { Type } from 'typebox';
import { assessBackup } from '../../backup/assess-backup.ts';
import { readLastBackupAt } from '../../backup/backup-state.ts';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import { defineOperation } from '../operation.ts';

export const getBackup = defineOperation({
  id: 'getBackup',
  summary: 'Get the state of the backup',
  description:
    'The backup of the embedded database, as in `bin/signalpost doctor`. Your own PostgreSQL is backed up with its own tools, and isn’t checked.',
  answer: Type.Object(
    {
      ok: Type.Boolean({ description: 'False if a backup that is set up fails or is late.' }),
      finding: Type.String({ description: 'Where to, how old, and what is wrong.' }),
      advice: Nullable(Type.String({ description: 'What to do about it.' })),
      lastAt: Nullable(Time('When the last backup was finished.')),
    },
    { ...strict, title: 'Backup' },
  ),
  async handle({ dependencies: { facts } }) {
    const { ok, finding, advice = null } = assessBackup(facts, true);
    const lastAt = facts.databaseUrl === undefined ? readLastBackupAt(facts.dataDir) : undefined;
    return { ok, finding, advice, lastAt: lastAt ?? null };
  },
});

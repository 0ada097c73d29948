import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessBackup } from '../../../src/host/backup/assess-backup.ts';
import {
  type BackupServiceState,
  readLastBackupAt,
  writeBackupServiceState,
  writeBaseBackupState,
} from '../../../src/host/backup/backup-state.ts';
import { parseBackupTarget } from '../../../src/host/backup/backup-target.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const settings = { everySeconds: 60, keepDays: 30, recipients: [], s3: undefined };
const to = parseBackupTarget('BACKUP_TO', '/mnt/backup');
const hourMs = 60 * 60 * 1_000;

function ago(hours: number): string {
  return new Date(Date.now() - hours * hourMs).toISOString();
}

/** A data folder whose backup is in the given state. */
function installation(state: {
  readonly baseAt?: string;
  readonly service?: Partial<BackupServiceState>;
  readonly target?: typeof to;
}) {
  const dataDir = temporaryFolder();
  if (state.baseAt !== undefined)
    writeBaseBackupState(dataDir, {
      target: '/mnt/backup',
      id: '1',
      finishedAt: state.baseAt,
      bytes: 1,
    });
  if (state.service !== undefined)
    writeBackupServiceState(dataDir, {
      target: '/mnt/backup',
      waiting: 0,
      hasGap: false,
      ...state.service,
    });
  return { databaseUrl: undefined, dataDir, backup: { ...settings, to: state.target } };
}

test('the operator’s own PostgreSQL is not judged', () => {
  const { ok, finding } = assessBackup(
    { ...installation({}), databaseUrl: 'postgres://db/mail' },
    true,
  );
  assert.equal(ok, true);
  assert.equal(finding, 'not checked (external PostgreSQL)');
});

test('without a backup, and with one by the command only, the advice is to set BACKUP_TO', () => {
  const none = assessBackup(installation({}), true);
  assert.deepEqual([none.ok, none.finding], [true, 'none']);
  assert.match(none.advice ?? '', /Set BACKUP_TO/);
  const once = assessBackup(installation({ baseAt: ago(50) }), true);
  assert.equal(once.finding, 'to /mnt/backup, 2 days ago; later mail isn’t backed up');
  assert.match(once.advice ?? '', /set BACKUP_TO/);
});

test('a backup that fails, is late or waits is not fine', () => {
  const target = to;
  const failing = installation({ target, baseAt: ago(1), service: { problem: 'no space' } });
  const late = installation({ target, baseAt: ago(40), service: {} });
  const waiting = installation({
    target,
    baseAt: ago(1),
    service: { waiting: 3, waitingSince: ago(1) },
  });
  const first = installation({ target, service: {} });
  for (const [folder, finding] of [
    [failing, 'to /mnt/backup fails: no space'],
    [late, 'the last base backup to /mnt/backup is 1 day old'],
    [waiting, '3 WAL files have waited for 1 hour to be stored in /mnt/backup'],
    [first, 'to /mnt/backup: none yet'],
  ] as const) {
    const verdict = assessBackup(folder, true);
    assert.deepEqual([verdict.ok, verdict.finding], [false, finding]);
    assert.ok(verdict.advice);
  }
});

test('a backup that works says where it is and how old', () => {
  const folder = installation({ target: to, baseAt: ago(3), service: { succeededAt: ago(0) } });
  assert.deepEqual(assessBackup(folder, true), {
    ok: true,
    finding: 'to /mnt/backup, base backup 3 hours ago, changes every 1 minute',
  });
});

test('the last backup is the later one of base and changes', () => {
  const succeededAt = ago(1);
  const both = installation({ baseAt: ago(3), service: { succeededAt } });
  assert.equal(readLastBackupAt(both.dataDir), succeededAt);
  assert.equal(readLastBackupAt(installation({}).dataDir), undefined);
});

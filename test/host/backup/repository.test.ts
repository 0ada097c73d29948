import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { BackupKeys } from '../../../src/host/backup/backup-encryption.ts';
import {
  type BackupManifest,
  readBackupManifests,
  writeBackupManifest,
} from '../../../src/host/backup/backup-manifest.ts';
import { FolderRepository } from '../../../src/host/backup/backup-repository.ts';
import { parseBackupTarget } from '../../../src/host/backup/backup-target.ts';
import { chooseBackup } from '../../../src/host/backup/choose-backup.ts';
import { claimRepository, expireBackups } from '../../../src/host/backup/take-base-backup.ts';
import {
  listWalFiles,
  parseLsn,
  readWalFile,
  segmentOfLsn,
  storeWalFile,
  WalArchiver,
  walFileName,
} from '../../../src/host/backup/wal-archive.ts';
import { dataFolderAt } from '../../../src/host/embedded-database/data-folder.ts';
import { openSmallDisk } from '../../support/small-disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const identity = await generateX25519Identity();
const encrypter = new Encrypter();
encrypter.addRecipient(await identityToRecipient(identity));
const decrypter = new Decrypter();
decrypter.addIdentity(identity);

function newRepository() {
  const path = join(temporaryFolder(), 'backups');
  return { path, repository: new FolderRepository(path) };
}

/** A base backup that ends in segment `segment`. */
function manifestOf(day: number, segment: number, timeline = 1): BackupManifest {
  const date = `2026-11-${String(day).padStart(2, '0')}`;
  return {
    format: 1,
    id: `${date.replaceAll('-', '')}T000000Z-0000000${timeline}`,
    release: '0.2.0',
    postgres: '18.4',
    system: '1',
    timeline,
    startLsn: `0/${(segment * 0x1_00_00_00 + 40).toString(16)}`,
    stopLsn: `0/${(segment * 0x1_00_00_00 + 400).toString(16)}`,
    firstWal: walFileName(timeline, BigInt(segment)),
    startedAt: `${date}T00:00:00.000Z`,
    finishedAt: `${date}T00:01:00.000Z`,
    parts: [{ name: 'part-000001', bytes: 1, sha256: '0'.repeat(64) }],
  };
}

async function storeSegments(repository: FolderRepository, ...segments: number[]): Promise<void> {
  for (const segment of segments)
    await storeWalFile(
      repository,
      encrypter,
      walFileName(1, BigInt(segment)),
      Buffer.from(`${segment}`),
    );
}

test('files are private, and a half-written one is never listed or read', async () => {
  const { path, repository } = newRepository();
  await repository.put('base/x/part-000001', Buffer.from('content'));
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(join(path, 'base/x/part-000001')).mode & 0o777, 0o600);
  writeFileSync(join(path, 'base/x/part-000002.unfinished'), 'half');
  assert.deepEqual(await repository.list('base/'), ['base/x/part-000001']);
  assert.equal(await repository.get('base/x/part-000002'), undefined);
});

test('backups and WAL that no restore within the kept days needs are removed, and incomplete ones', async () => {
  const { path, repository } = newRepository();
  for (const [day, segment] of [
    [1, 2],
    [5, 10],
    [9, 20],
  ] as const)
    await writeBackupManifest(repository, manifestOf(day, segment));
  await repository.put('base/20261110T000000Z-0000000a/part-000001', Buffer.from('half'));
  await storeSegments(repository, 2, 9, 10, 11, 25);
  const now = Date.parse('2026-11-10T00:00:00Z');
  await expireBackups(repository, undefined, now);
  assert.equal((await readBackupManifests(repository)).length, 3, 'without days, none is removed');
  assert.equal(existsSync(join(path, 'base/20261110T000000Z-0000000a')), false);
  await expireBackups(repository, 3, now);
  const kept = (await readBackupManifests(repository)).map(({ finishedAt }) =>
    finishedAt.slice(8, 10),
  );
  assert.deepEqual(kept, ['05', '09'], 'a restore to the 7th starts from the 5th');
  const names = [...(await listWalFiles(repository)).keys()];
  assert.deepEqual(
    names,
    [10, 11, 25].map((segment) => walFileName(1, BigInt(segment))),
  );
  await expireBackups(repository, 3, Date.parse('2027-11-10T00:00:00Z'));
  assert.equal((await readBackupManifests(repository)).length, 1, 'the last one is always kept');
});

test('what a killed backup leaves before its first part is complete goes with the next one', async () => {
  const { path, repository } = newRepository();
  await writeBackupManifest(repository, manifestOf(1, 2));
  for (const name of ['20261102T000000Z-0000000a', '20261103T000000Z-0000000b'])
    mkdirSync(join(path, 'base', name));
  writeFileSync(join(path, 'base/20261103T000000Z-0000000b/part-000001.unfinished'), 'half');
  await expireBackups(repository, undefined);
  assert.equal(readdirSync(join(path, 'base')).length, 1);
});

test('WAL is stored once, comes back unchanged, and other content of the same name is refused', async () => {
  const { repository } = newRepository();
  const name = walFileName(1, 7n);
  await storeWalFile(repository, encrypter, name, Buffer.from('seven'));
  await storeWalFile(repository, encrypter, name, Buffer.from('seven'));
  const [file = ''] = (await listWalFiles(repository)).get(name) ?? [];
  assert.equal(Buffer.from(await readWalFile(repository, decrypter, file)).toString(), 'seven');
  await assert.rejects(
    storeWalFile(repository, encrypter, name, Buffer.from('other')),
    /two installations use this target/,
  );
  await repository.put(file, Buffer.from('damaged'));
  await assert.rejects(readWalFile(repository, decrypter, file), /is damaged/);
});

test('the base backup for a time is on the newest timeline, and missing WAL is noticed', async () => {
  const { repository } = newRepository();
  await writeBackupManifest(repository, manifestOf(1, 2));
  await writeBackupManifest(repository, manifestOf(5, 10));
  await storeSegments(repository, 3, 4, 11, 12);
  const chosen = await chooseBackup(repository, decrypter, undefined);
  assert.equal(chosen.manifest.firstWal, walFileName(1, 10n));
  assert.equal(chosen.hasGap, false);
  const earlier = await chooseBackup(repository, decrypter, new Date('2026-11-03T00:00:00Z'));
  assert.equal(earlier.manifest.firstWal, walFileName(1, 2n));
  assert.equal(earlier.hasGap, true, 'segments 5 to 10 are missing');
  await assert.rejects(
    chooseBackup(repository, decrypter, new Date('2026-10-01T00:00:00Z')),
    /No backup reaches back/,
  );
  // A restore to segment 4 began a new timeline, so the backup of the 5th is of another history.
  const history = Buffer.from('1\t0/4000100\tbefore 2026-11-03\n');
  await storeWalFile(repository, encrypter, '00000002.history', history);
  const after = await chooseBackup(repository, decrypter, undefined);
  assert.equal(after.manifest.firstWal, walFileName(1, 2n));
});

test('a target belongs to one installation', async () => {
  const { repository } = newRepository();
  await claimRepository(repository, '1');
  await claimRepository(repository, '1');
  await assert.rejects(claimRepository(repository, '2'), /belongs to another installation/);
});

test('a damaged manifest gives one sentence', async () => {
  const { path, repository } = newRepository();
  mkdirSync(join(path, 'base/20261101T000000Z-00000001'), { recursive: true });
  writeFileSync(join(path, 'base/20261101T000000Z-00000001/manifest.json'), '{"format": 2}');
  await assert.rejects(readBackupManifests(repository), /is damaged or from a newer release/);
});

test('targets are folders or buckets', () => {
  assert.deepEqual(parseBackupTarget('BACKUP_TO', 's3://bucket/a/b/'), {
    kind: 's3',
    bucket: 'bucket',
    prefix: 'a/b/',
  });
  assert.equal(parseBackupTarget('BACKUP_TO', '/mnt/backup').kind, 'folder');
  for (const wrong of [
    's3://',
    's3://Bucket',
    's3://bucket/../x',
    's3://bucket/a b',
    'https://x',
    '',
  ])
    assert.throws(() => parseBackupTarget('BACKUP_TO', wrong), /BACKUP_TO must be a folder/, wrong);
});

test('WAL names continue across logs', () => {
  assert.equal(walFileName(1, segmentOfLsn(parseLsn('0/2000028'))), '000000010000000000000002');
  assert.equal(walFileName(2, segmentOfLsn(parseLsn('1/FF000000'))), '0000000200000001000000FF');
  assert.equal(walFileName(2, segmentOfLsn(parseLsn('2/0'))), '000000020000000200000000');
});

test('WAL that waits is given up only if the disk is nearly full', async (context) => {
  const disk = await openSmallDisk();
  context.after(() => disk.remove());
  const { repository } = newRepository();
  const folder = dataFolderAt(disk.path);
  mkdirSync(folder.walSpool);
  const keys = new BackupKeys(repository, encrypter, {
    key: undefined,
    previousKey: undefined,
    dataDir: disk.path,
  });
  const archiver = new WalArchiver(folder, repository, encrypter, keys);
  for (let segment = 1n; segment <= 8n; segment += 1n)
    writeFileSync(join(folder.walSpool, walFileName(1, segment)), `${segment}`);
  assert.equal(await archiver.removeIfDiskFull(), 0, 'there is space');
  await disk.fill();
  if (!disk.canFill) return context.skip('only root can fill a disk');
  assert.equal(await archiver.removeIfDiskFull(), 8);
  assert.deepEqual(readdirSync(folder.walSpool), []);
});

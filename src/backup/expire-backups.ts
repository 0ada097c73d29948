import { type BackupManifest, baseFolder, readBackupManifests } from './backup-manifest.ts';
import type { BackupRepository } from './backup-repository.ts';
import { listWalFiles } from './wal-archive.ts';
import { segmentOfWalFile } from './wal-names.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Removes incomplete base backups, and with `keepDays` the complete ones and WAL that no restore to a time in these days
 * needs. Only while no backup is running.
 * @param keepDays undefined: removes no complete backup
 */
export async function expireBackups(
  repository: BackupRepository,
  keepDays: number | undefined,
  now = Date.now(),
): Promise<void> {
  const manifests = await readBackupManifests(repository);
  const kept = keepDays === undefined ? manifests : findNeeded(manifests, now - keepDays * dayMs);
  await removeBases(repository, new Set(kept.map(({ id }) => baseFolder(id))));
  const first = kept
    .map(({ firstWal }) => segmentOfWalFile(firstWal) ?? 0n)
    .reduce<bigint | undefined>(
      (least, segment) => (least === undefined || segment < least ? segment : least),
      undefined,
    );
  if (keepDays === undefined || first === undefined) return;
  for (const [name, files] of await listWalFiles(repository)) {
    // Segment numbers grow across timelines. Histories are small, and restores follow them.
    const segment = segmentOfWalFile(name);
    if (segment !== undefined && segment < first)
      for (const file of files) await repository.remove(file);
  }
}

/** Those that finished after a time, and the one before them, which a restore to that time starts from. */
function findNeeded(manifests: readonly BackupManifest[], since: number): BackupManifest[] {
  const later = manifests.findIndex(({ finishedAt }) => Date.parse(finishedAt) > since);
  return manifests.slice(later === -1 ? -1 : Math.max(0, later - 1));
}

async function removeBases(repository: BackupRepository, kept: ReadonlySet<string>): Promise<void> {
  const names = (await repository.list('base/')).filter(
    (name) => !kept.has(name.split('/').slice(0, 2).join('/')),
  );
  // Manifests first, so that a crash leaves no base backup that looks complete.
  const isManifest = (name: string) => name.endsWith('/manifest.json');
  for (const name of [...names.filter(isManifest), ...names.filter((name) => !isManifest(name))])
    await repository.remove(name);
  await repository.sweep('base/');
}

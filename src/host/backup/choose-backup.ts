import type { Decrypter } from 'age-encryption';
import { OperatorError } from '../../base/values/errors.ts';
import { type BackupManifest, readBackupManifests } from './backup-manifest.ts';
import type { BackupRepository } from './backup-repository.ts';
import {
  listWalFiles,
  parseLsn,
  readWalFile,
  segmentOfLsn,
  segmentOfWalFile,
} from './wal-archive.ts';

/** A base backup, and the WAL files that a restore can replay on it. */
export interface ChosenBackup {
  readonly manifest: BackupManifest;
  readonly walFiles: ReadonlyMap<string, readonly string[]>;
  /** Whether WAL is missing between the base backup and later WAL. */
  readonly hasGap: boolean;
}

/**
 * Finds the base backup to restore from: the newest one that had finished at a time, on the newest timeline. A timeline
 * starts with each restore, and what was written to the previous one after that point is a different history.
 * @throws OperatorError if there is none
 */
export async function chooseBackup(
  repository: BackupRepository,
  decrypter: Decrypter,
  to: Date | undefined,
): Promise<ChosenBackup> {
  const manifests = await readBackupManifests(repository);
  const [oldest] = manifests;
  if (oldest === undefined)
    throw new OperatorError(
      'There is no complete backup. Check the folder or bucket, or create one with: signalpost backup',
    );
  const walFiles = await listWalFiles(repository);
  const timelines = [...walFiles.keys()].map((name) => Number.parseInt(name.slice(0, 8), 16));
  const newest = Math.max(...manifests.map(({ timeline }) => timeline), ...timelines);
  const ends = await readTimelineEnds(repository, decrypter, walFiles, newest);
  const isReachable = ({ timeline, stopLsn }: BackupManifest): boolean => {
    const end = ends.get(timeline);
    return timeline === newest || (end !== undefined && parseLsn(stopLsn) <= end);
  };
  const manifest = manifests.findLast(
    (candidate) =>
      isReachable(candidate) && (to === undefined || Date.parse(candidate.finishedAt) <= +to),
  );
  if (manifest === undefined)
    throw new OperatorError(
      `No backup reaches back to ${to?.toISOString()}. The oldest one is of ${oldest.finishedAt}; use that or a later time with --to.`,
    );
  return { manifest, walFiles, hasGap: hasWalGap(manifest, walFiles) };
}

/** Segment numbers continue across timelines. The base backup itself has those up to its end. */
function hasWalGap({ stopLsn }: BackupManifest, walFiles: ChosenBackup['walFiles']): boolean {
  const last = segmentOfLsn(parseLsn(stopLsn) - 1n);
  const later = new Set(
    [...walFiles.keys()]
      .map(segmentOfWalFile)
      .filter((segment) => segment !== undefined && segment > last),
  );
  // Without a gap, these are as many as the numbers from the first to the last one.
  return [...later].some((segment) => (segment ?? 0n) > last + BigInt(later.size));
}

/** Where each previous timeline of a timeline ended. */
async function readTimelineEnds(
  repository: BackupRepository,
  decrypter: Decrypter,
  walFiles: ChosenBackup['walFiles'],
  timeline: number,
): Promise<Map<number, bigint>> {
  const ends = new Map<number, bigint>();
  const name = `${timeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
  const [file] = walFiles.get(name) ?? [];
  if (file === undefined) return ends;
  const text = Buffer.from(await readWalFile(repository, decrypter, file)).toString('utf8');
  for (const [, parent, lsn = ''] of text.matchAll(/^(\d+)\t([0-9A-F]+\/[0-9A-F]+)\t/gm))
    ends.set(Number(parent), parseLsn(lsn));
  return ends;
}

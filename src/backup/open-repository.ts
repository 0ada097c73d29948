import type { BackupRepository, S3Settings } from './backup-repository.ts';
import type { BackupTarget } from './backup-target.ts';
import { FolderRepository } from './folder-repository.ts';

/**
 * Opens where backups are kept.
 * @throws OperatorError if the target is a bucket and its settings are missing
 */
export async function openBackupRepository(
  target: BackupTarget,
  s3: S3Settings | undefined,
): Promise<BackupRepository> {
  if (target.kind === 'folder') return new FolderRepository(target.path);
  // Loaded on demand, because most installations don't use it.
  const { openS3Repository } = await import('./s3-repository.ts');
  return openS3Repository(target.bucket, target.prefix, s3);
}

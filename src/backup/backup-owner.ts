import { OperatorError } from '../foundation/errors.ts';
import type { BackupRepository } from './backup-repository.ts';

const ownerFile = 'installation.json';

/**
 * Ties a repository to the first installation that writes to it, because each removes files that it considers its own leftovers.
 * @param system PostgreSQL's identifier of the database, which a restore keeps
 * @throws OperatorError if it belongs to another installation
 */
export async function claimRepository(repository: BackupRepository, system: string): Promise<void> {
  const content = await repository.get(ownerFile);
  if (content === undefined) {
    const text = `${JSON.stringify({ format: 1, system })}\n`;
    return repository.put(ownerFile, Buffer.from(text));
  }
  const found: unknown = JSON.parse(Buffer.from(content).toString('utf8'));
  if (typeof found === 'object' && found !== null && 'system' in found && found.system === system)
    return;
  throw new OperatorError(
    'The backup folder or bucket belongs to another installation. Use one for each installation.',
  );
}

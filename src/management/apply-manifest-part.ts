import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import { applyInTransaction } from '../manifest/apply-manifest.ts';
import { buildManifest } from '../manifest/build-manifest.ts';
import { CompiledContents } from '../manifest/compiled-contents.ts';
import type { ManifestChange } from '../manifest/manifest-change.ts';
import { ManifestFiles } from '../manifest/manifest-files.ts';
import { ProblemCollector } from '../manifest/manifest-problems.ts';
import type { RawAccount } from '../manifest/manifest-schema.ts';
import { accountOf, type OperationCall } from './operation.ts';

/**
 * Applies a part of a manifest to the account of the path: what the API changes follows the rules of `apply`, and what is
 * left out stays as it is.
 * @param contents of templates that the part has
 * @throws ManifestError with everything that cannot be used
 */
export async function applyManifestPart(
  call: Pick<OperationCall, 'account' | 'dependencies'>,
  transaction: DatabaseTransaction,
  part: Partial<RawAccount>,
  contents?: CompiledContents,
): Promise<readonly ManifestChange[]> {
  const { id, name } = accountOf(call);
  return applyAccount(call.dependencies.key, transaction, { id, name, ...part }, contents);
}

/** As `applyPart`, for a whole account, which may be new. */
export async function applyAccount(
  key: OperationCall['dependencies']['key'],
  transaction: DatabaseTransaction,
  account: RawAccount,
  contents = new CompiledContents(),
): Promise<readonly ManifestChange[]> {
  const noPath = () => undefined;
  const problems = new ProblemCollector(noPath);
  // No schema of the API lets a file be named.
  const files = new ManifestFiles('');
  const manifest = await buildManifest({ accounts: [account] }, noPath, { files, problems });
  problems.throwIfAny();
  return applyInTransaction(transaction, key, manifest, contents);
}

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
 * Applies part of a manifest to the account of the path, so changes through the API follow the rules of `apply`.
 * Omitted settings stay unchanged.
 * @param contents compiled templates of the part
 * @throws ManifestError with every problem
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

/** `applyManifestPart` for a whole account, which may be new. */
export async function applyAccount(
  key: OperationCall['dependencies']['key'],
  transaction: DatabaseTransaction,
  account: RawAccount,
  contents = new CompiledContents(),
): Promise<readonly ManifestChange[]> {
  const noPath = () => undefined;
  const problems = new ProblemCollector(noPath);
  // The API's schemas don't allow file references.
  const files = new ManifestFiles('');
  const manifest = await buildManifest({ accounts: [account] }, noPath, { files, problems });
  problems.throwIfAny();
  return applyInTransaction(transaction, key, manifest, contents);
}

import { applyWithin } from '../manifest/apply-manifest.ts';
import { buildManifest } from '../manifest/build-manifest.ts';
import { CompiledContents } from '../manifest/compiled-contents.ts';
import type { ManifestChange } from '../manifest/manifest-change.ts';
import { ManifestFiles } from '../manifest/manifest-files.ts';
import { ProblemList } from '../manifest/manifest-problems.ts';
import type { RawAccount } from '../manifest/manifest-schema.ts';
import type { Transaction } from './change-resource.ts';
import { accountOf, type Call } from './endpoint.ts';

/**
 * Applies a part of a manifest to the account of the path: what the API changes follows the rules of `apply`, and what is
 * left out stays as it is.
 * @param contents of templates that the part has
 * @throws ManifestError with everything that cannot be used
 */
export async function applyPart(
  call: Pick<Call, 'account' | 'parts'>,
  transaction: Transaction,
  part: Partial<RawAccount>,
  contents?: CompiledContents,
): Promise<readonly ManifestChange[]> {
  const { id, name } = accountOf(call);
  return applyAccount(call.parts.key, transaction, { id, name, ...part }, contents);
}

/** As `applyPart`, for a whole account, which may be new. */
export async function applyAccount(
  key: Call['parts']['key'],
  transaction: Transaction,
  account: RawAccount,
  contents = new CompiledContents(),
): Promise<readonly ManifestChange[]> {
  const nowhere = () => undefined;
  const problems = new ProblemList(nowhere);
  // No schema of the API lets a file be named.
  const files = new ManifestFiles('');
  const manifest = await buildManifest({ accounts: [account] }, nowhere, { files, problems });
  problems.throwIfAny();
  return applyWithin(transaction, key, manifest, contents);
}

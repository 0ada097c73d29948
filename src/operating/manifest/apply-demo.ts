import { fileURLToPath } from 'node:url';
import { toGeneratedApiKey } from '../../accounts/access/api-key.ts';
import { addApiKey } from '../../accounts/access/api-key-store.ts';
import { tokenPermissions } from '../../accounts/access/token-operations.ts';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { lockInstallation } from '../change/change-lock-store.ts';
import type { CompiledContents } from './compiled-contents.ts';
import {
  demoAccountId,
  hasDemoEnvironment,
  loadDemoEnvironment,
  throwawayDemoEnvironment,
} from './demo-environment.ts';
import { isDemoApplied, markDemoApplied } from './demo-store.ts';
import type { Manifest } from './manifest.ts';
import { ManifestError } from './manifest-problems.ts';
import type { EnvironmentVariables } from './parse-manifest.ts';

const demoManifest = fileURLToPath(new URL('../../../demo/manifest.yaml', import.meta.url));

interface DemoDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  /** Where the demo's secrets are stored. */
  readonly dataDir: string;
}

/**
 * Applies the demo manifest once per installation. Its secrets are written to disk before the transaction that applies and
 * records it, so the next start can finish an interrupted one.
 * @returns true if the demo was set up, now or earlier, and its secrets are in this data folder
 * @throws OperatorError if the secrets can't be written or the manifest conflicts with existing resources
 */
export async function applyDemo(dependencies: DemoDependencies): Promise<boolean> {
  const { kysely } = dependencies.database;
  if (!(await isDemoApplied(kysely))) {
    const contents = await compileDemo();
    await kysely.transaction().execute(async (transaction) => {
      await lockInstallation(transaction);
      if (!(await isDemoApplied(transaction)))
        await applyFirst(dependencies, contents, transaction);
    });
  }
  return hasDemoEnvironment(dependencies.dataDir);
}

/** Compiled before taking the lock, so others don't wait for the compilation. */
async function compileDemo(): Promise<CompiledContents> {
  // Loaded lazily, because only the first start compiles templates.
  const { CompiledContents } = await import('./compiled-contents.ts');
  const contents = new CompiledContents();
  const { accounts } = await readDemo(throwawayDemoEnvironment());
  for (const { templates } of accounts) await contents.compile(templates);
  return contents;
}

async function readDemo(environment: EnvironmentVariables): Promise<Manifest> {
  const { readManifestFile } = await import('./manifest-files.ts');
  const { parseManifest } = await import('./parse-manifest.ts');
  return parseManifest(await readManifestFile(demoManifest), environment);
}

async function applyFirst(
  { key, dataDir }: DemoDependencies,
  contents: CompiledContents,
  transaction: Kysely,
): Promise<void> {
  const { applyInTransaction: applyWithin } = await import('./apply-manifest.ts');
  const { recordApply } = await import('./apply-manifest.ts');
  const environment = await loadDemoEnvironment(dataDir);
  try {
    const manifest = await readDemo(environment);
    await recordApply(transaction, await applyWithin(transaction, key, manifest, contents));
    await addDemoKey(transaction, environment.DEMO_API_KEY);
  } catch (cause) {
    if (!(cause instanceof ManifestError)) throw cause;
    throw new OperatorError(`Can’t set up the demo: ${cause.message}. Set DEMO=0 to skip it.`, {
      cause,
    });
  }
  await markDemoApplied(transaction);
}

/** Creates the API key for the first send; demo files of earlier releases have none. */
async function addDemoKey(transaction: Kysely, text: string | undefined): Promise<void> {
  if (text === undefined) return;
  const { hash, hint } = toGeneratedApiKey(text);
  await addApiKey(transaction, {
    accountId: demoAccountId,
    hash,
    hint,
    name: 'Demo',
    scopes: [...tokenPermissions],
    networks: null,
    templates: null,
    createdBy: undefined,
    expiresAt: undefined,
  });
}

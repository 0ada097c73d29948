import { fileURLToPath } from 'node:url';
import { toGeneratedApiKey } from '../access/api-key.ts';
import { addApiKey } from '../access/api-key-store.ts';
import { tokenPermissions } from '../access/token-operations.ts';
import { lockInstallation } from '../change/change-lock-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { MasterKey } from '../foundation/master-key.ts';
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
import type { EnvironmentVariables } from './substitute-environment.ts';

const demoManifest = fileURLToPath(new URL('../../demo/manifest.yaml', import.meta.url));

interface DemoDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  /** Where the demo's secrets are kept. */
  readonly dataDir: string;
}

/**
 * Applies the demo manifest once in the life of an installation. Its secrets are on the disk before the one transaction
 * that applies it and remembers so; a start that dies anywhere in between is finished by the next one.
 * @returns true where the demo was set up, now or earlier, and its secrets are kept in this data folder
 * @throws OperatorError where the secrets cannot be kept, or the manifest does not fit what is there already
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

/** Compiled before the lock, which nobody else may wait for as long as compiling takes. */
async function compileDemo(): Promise<CompiledContents> {
  // Loaded here, as only the first start compiles templates.
  const { CompiledContents } = await import('./compiled-contents.ts');
  const contents = new CompiledContents();
  const { accounts } = await readDemo(throwawayDemoEnvironment());
  for (const { templates } of accounts) await contents.compile(templates);
  return contents;
}

async function readDemo(environment: EnvironmentVariables): Promise<Manifest> {
  const { readManifestText } = await import('./manifest-files.ts');
  const { parseManifest } = await import('./parse-manifest.ts');
  return parseManifest(await readManifestText(demoManifest), environment);
}

async function applyFirst(
  { key, dataDir }: DemoDependencies,
  contents: CompiledContents,
  transaction: Database['kysely'],
): Promise<void> {
  const { applyInTransaction: applyWithin } = await import('./apply-manifest.ts');
  const { recordApply } = await import('./record-apply.ts');
  const environment = await loadDemoEnvironment(dataDir);
  try {
    const manifest = await readDemo(environment);
    await recordApply(transaction, await applyWithin(transaction, key, manifest, contents));
    await addDemoKey(transaction, environment.DEMO_API_KEY);
  } catch (cause) {
    if (!(cause instanceof ManifestError)) throw cause;
    throw new OperatorError(`The demo cannot be set up: ${cause.message}. DEMO=0 leaves it out.`, {
      cause,
    });
  }
  await markDemoApplied(transaction);
}

/** The key of the first send; a file of an earlier release has none. */
async function addDemoKey(
  transaction: Database['kysely'],
  text: string | undefined,
): Promise<void> {
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

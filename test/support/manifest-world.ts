import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { stringify } from 'yaml';
import type { Database } from '../../src/base/database/open-database.ts';
import { applyManifest } from '../../src/operating/manifest/apply-manifest.ts';
import type { Manifest } from '../../src/operating/manifest/manifest.ts';
import type { ApplyOptions, ManifestChange } from '../../src/operating/manifest/manifest-change.ts';
import {
  ManifestError,
  type ManifestProblem,
} from '../../src/operating/manifest/manifest-problems.ts';
import { parseManifest } from '../../src/operating/manifest/parse-manifest.ts';
import { testKey } from './test-service.ts';

export interface ManifestInput {
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder of the manifest's files. */
  readonly folder?: string;
}

/** Parses a manifest, given as text or as a value to write as YAML. */
export function parse(manifest: unknown, input: ManifestInput = {}): Promise<Manifest> {
  const text = typeof manifest === 'string' ? manifest : stringify(manifest);
  return parseManifest(
    { text, name: 'manifest.yaml', folder: input.folder ?? tmpdir() },
    input.environment ?? {},
  );
}

/** Parses and applies a manifest. */
export async function apply(
  database: Database,
  manifest: unknown,
  options: ApplyOptions & ManifestInput = {},
): Promise<readonly ManifestChange[]> {
  return applyManifest(database, testKey, await parse(manifest, options), options);
}

/** The problems that a rejected manifest is reported with. */
export async function manifestProblems(
  work: Promise<unknown>,
): Promise<readonly ManifestProblem[]> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ManifestError, `not rejected: ${String(error)}`);
  return error.problems;
}

/** The problems as text: path and message. */
export async function manifestProblemTexts(work: Promise<unknown>): Promise<string[]> {
  return (await manifestProblems(work)).map(({ path, message }) => `${path} ${message}`.trim());
}

/** The changes as text: `created user ann@shop.test`. */
export function summarizeChanges(changes: readonly ManifestChange[]): string[] {
  return changes.map(({ action, kind, id }) => `${action} ${kind} ${id}`);
}

/** Only the changes that aren't `unchanged`. */
export function changed(changes: readonly ManifestChange[]): string[] {
  return summarizeChanges(changes.filter(({ action }) => action !== 'unchanged'));
}

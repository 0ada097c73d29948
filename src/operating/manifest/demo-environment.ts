import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { generateApiKey } from '../../accounts/access/api-key.ts';
import { codeOf } from '../../base/database/sqlstate.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { EnvironmentVariables } from './parse-manifest.ts';

/** The account of demo/manifest.yaml. */
export const demoAccountId = '1000' as AccountId;

/** Holds the demo's passwords and secrets in shell syntax, readable only by its owner. */
function demoEnvironmentFile(dataDir: string): string {
  return join(dataDir, 'demo.env');
}

/** Variables of demo/manifest.yaml with random values. */
const secretNames = [
  'DEMO_OWNER_PASSWORD',
  'DEMO_DEVELOPER_PASSWORD',
  'DEMO_VIEWER_PASSWORD',
  'DEMO_SERVICE_PASSWORD',
  'DEMO_CLIENT_SECRET',
];

/** The inbox token, used unless a setting provides one. */
const inboxTokenVariable = 'INBOX_TOKEN';

/**
 * Reads the demo's passwords and secrets from the file, which is created with new ones if missing.
 * @throws OperatorError if the file can't be read or written
 */
export async function loadDemoEnvironment(dataDir: string): Promise<EnvironmentVariables> {
  const file = demoEnvironmentFile(dataDir);
  const text = await readIfExists(file);
  return parseEnv(hasDemoVariables(text) ? text : await addLines(file, text, composeDemo()));
}

/** Throwaway values, for reading the manifest without a data folder. */
export function throwawayDemoEnvironment(): EnvironmentVariables {
  return parseEnv(composeDemo().join(''));
}

/** True if the demo's passwords and secrets are in this folder. */
export async function hasDemoEnvironment(dataDir: string): Promise<boolean> {
  return hasDemoVariables(await readIfExists(demoEnvironmentFile(dataDir)));
}

/** Whether the file contains the demo's API key; files from before 0.2.0 don't. */
export async function hasDemoKey(dataDir: string): Promise<boolean> {
  const text = await readIfExists(demoEnvironmentFile(dataDir));
  return text !== undefined && /^(?:export )?DEMO_API_KEY=/m.test(text);
}

/** The stored inbox token, if any. */
export async function readInboxToken(dataDir: string): Promise<string | undefined> {
  return parseEnv((await readIfExists(demoEnvironmentFile(dataDir))) ?? '')[inboxTokenVariable];
}

/**
 * The stored inbox token, created if missing.
 * @throws OperatorError if the file can't be read or written
 */
export async function ensureInboxToken(dataDir: string): Promise<string | undefined> {
  const existing = await readInboxToken(dataDir);
  if (existing !== undefined) return existing;
  const file = demoEnvironmentFile(dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  await addLines(file, await readIfExists(file), [secretLine(inboxTokenVariable)]);
  // A concurrent start on this folder may have written the file first.
  return readInboxToken(dataDir);
}

/** Without the demo, the file may contain only the inbox token. */
function hasDemoVariables(text: string | undefined): text is string {
  return text !== undefined && /^(?:export )?DEMO_/m.test(text);
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new OperatorError(`Can’t read the secrets in ${file} (${codeOf(cause)}).`, {
      cause,
    });
  }
}

/**
 * Adds lines to the file, atomically through a temporary file. A file created by a concurrent start is kept.
 * @param before current content; undefined if the file doesn't exist
 * @returns the new content
 */
async function addLines(
  file: string,
  before: string | undefined,
  lines: readonly string[],
): Promise<string> {
  const draft = `${file}.${process.pid}.new`;
  const text = (before ?? heading) + lines.join('');
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true });
    if (before === undefined) await link(draft, file);
    else await rename(draft, file);
    return text;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return await readFile(file, 'utf8');
    throw new OperatorError(
      `Can’t write the demo’s secrets to ${file} (${codeOf(cause)}). Set DATA_DIR to a writable folder, or DEMO=0.`,
      { cause },
    );
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

const heading = '# Created by the first start. Load it into a shell with: . demo.env\n';

function composeDemo(): string[] {
  return [
    'export DEMO_OWNER_EMAIL=owner@shop.test\n',
    'export DEMO_SERVICE_EMAIL=service@shop.test\n',
    'export DEMO_CLIENT_ID=demo\n',
    ...secretNames.map(secretLine),
    `export DEMO_API_KEY=${generateApiKey(demoAccountId).text}\n`,
  ];
}

function secretLine(name: string): string {
  return `export ${name}=${randomBytes(24).toString('base64url')}\n`;
}

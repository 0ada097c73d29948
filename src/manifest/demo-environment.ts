import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { generateApiKey } from '../access/api-key.ts';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { EnvironmentVariables } from './substitute-environment.ts';

/** The account of demo/manifest.yaml. */
export const demoAccountId = '1000' as AccountId;

/** Where the passwords and secrets of the demo are kept, readable by a shell and by its owner alone. */
function demoEnvironmentFile(dataDir: string): string {
  return join(dataDir, 'demo.env');
}

/** The variables of demo/manifest.yaml whose values are made at random. */
const secretNames = [
  'DEMO_OWNER_PASSWORD',
  'DEMO_DEVELOPER_PASSWORD',
  'DEMO_VIEWER_PASSWORD',
  'DEMO_SERVICE_PASSWORD',
  'DEMO_CLIENT_SECRET',
];

/** What programs read the inbox with where no setting says so. */
const inboxTokenVariable = 'INBOX_TOKEN';

/**
 * The demo's passwords and secrets: those of the file, which is made with new ones where there is none.
 * @throws OperatorError where the file cannot be read or written
 */
export async function loadDemoEnvironment(dataDir: string): Promise<EnvironmentVariables> {
  const file = demoEnvironmentFile(dataDir);
  const text = await readIfExists(file);
  return parseEnv(hasDemoVariables(text) ? text : await addLines(file, text, composeDemo()));
}

/** Values that nobody keeps, for reading the manifest without a data folder. */
export function throwawayDemoEnvironment(): EnvironmentVariables {
  return parseEnv(composeDemo().join(''));
}

/** True where the demo's passwords and secrets are kept here. */
export async function hasDemoEnvironment(dataDir: string): Promise<boolean> {
  return hasDemoVariables(await readIfExists(demoEnvironmentFile(dataDir)));
}

/** Whether the file holds the demo's API key: that of a folder from before 0.2.0 has none. */
export async function hasDemoKey(dataDir: string): Promise<boolean> {
  const text = await readIfExists(demoEnvironmentFile(dataDir));
  return text !== undefined && /^(?:export )?DEMO_API_KEY=/m.test(text);
}

/** The inbox's token that is kept here, if there is one. */
export async function readInboxToken(dataDir: string): Promise<string | undefined> {
  return parseEnv((await readIfExists(demoEnvironmentFile(dataDir))) ?? '')[inboxTokenVariable];
}

/**
 * The inbox's token that is kept here; made where there is none.
 * @throws OperatorError where the file cannot be read or written
 */
export async function ensureInboxToken(dataDir: string): Promise<string | undefined> {
  const existing = await readInboxToken(dataDir);
  if (existing !== undefined) return existing;
  const file = demoEnvironmentFile(dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  await addLines(file, await readIfExists(file), [secretLine(inboxTokenVariable)]);
  // Another start on this folder may have been faster.
  return readInboxToken(dataDir);
}

/** Without the demo the file may hold the inbox's token alone. */
function hasDemoVariables(text: string | undefined): text is string {
  return text !== undefined && /^(?:export )?DEMO_/m.test(text);
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new OperatorError(`The secrets in ${file} cannot be read (${codeOf(cause)}).`, {
      cause,
    });
  }
}

/**
 * Adds lines to the file, which is written whole under another name and put in place: half a file is never seen. One that
 * another start has made meanwhile is kept.
 * @param before what it holds; undefined where it is not there
 * @returns what it holds now
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
      `The demo's secrets cannot be written to ${file} (${codeOf(cause)}); set DATA_DIR to a folder that can be written, or DEMO=0.`,
      { cause },
    );
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

const heading = '# Made by the first start. Read it into a shell with: . demo.env\n';

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

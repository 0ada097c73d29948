import { randomBytes } from 'node:crypto';
import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { makeApiKey } from '../access/api-key.ts';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Environment } from './substitute-environment.ts';

/** The account of demo/manifest.yaml. */
export const demoAccountId = '1000' as AccountId;

/** Where the passwords and secrets of the demo are kept, readable by a shell and by its owner alone. */
export function demoEnvironmentFile(dataDir: string): string {
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

/**
 * The demo's passwords and secrets: those of the file, which is made with new ones where there is none.
 * @throws OperatorError where the file cannot be read or written
 */
export async function loadDemoEnvironment(dataDir: string): Promise<Environment> {
  const file = demoEnvironmentFile(dataDir);
  return parseEnv((await readIfThere(file)) ?? (await makeFile(file)));
}

/** Values that nobody keeps, for reading the manifest without a data folder. */
export function throwawayDemoEnvironment(): Environment {
  return parseEnv(compose());
}

/** True where the demo's passwords and secrets are kept here. */
export async function hasDemoEnvironment(dataDir: string): Promise<boolean> {
  return (await readIfThere(demoEnvironmentFile(dataDir))) !== undefined;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new OperatorError(`The demo's secrets in ${file} cannot be read (${codeOf(cause)}).`, {
      cause,
    });
  }
}

/** Written whole under another name and linked into place: half a file is never seen, and an existing one is kept. */
async function makeFile(file: string): Promise<string> {
  const draft = `${file}.${process.pid}.new`;
  const text = compose();
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true });
    await link(draft, file);
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

function compose(): string {
  const secrets = secretNames.map(
    (name) => `export ${name}=${randomBytes(24).toString('base64url')}\n`,
  );
  return [
    '# Made by the first start for the demo account 1000. Read it into a shell with: . demo.env\n',
    'export DEMO_OWNER_EMAIL=owner@shop.test\n',
    'export DEMO_SERVICE_EMAIL=service@shop.test\n',
    'export DEMO_CLIENT_ID=demo\n',
    ...secrets,
    `export DEMO_API_KEY=${makeApiKey(demoAccountId).text}\n`,
  ].join('');
}

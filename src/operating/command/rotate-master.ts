import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sealedSigningSecrets } from '../../accounts/access/signing-secrets.ts';
import { sealedDkimKeys } from '../../accounts/sender/dkim-key-store.ts';
import { sealedSecondFactors } from '../../accounts/sign-in/second-factor.ts';
import { sealedProviderSecrets } from '../../accounts/sign-in/single-sign-on/account-provider-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import {
  endPreviousKey,
  type KeyNode,
  type KeyState,
  readKeyLeftovers,
  readKeyNodes,
  readKeyState,
  recordLeftovers,
  switchKey,
} from '../../base/secrets/key-rotation-store.ts';
import {
  loadMasterKey,
  makeNextKey,
  promoteNextKey,
  removePreviousKey,
} from '../../base/secrets/load-master-key.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import { resealColumn } from '../../base/secrets/seal.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { sealedSourceUrls } from '../../outbox/source/outbox-source-store.ts';
import { sealedWebhookSecrets } from '../../outcomes/webhook/secret-box.ts';
import type { Config } from '../config/config.ts';
import { onInstallation } from './open-running.ts';
import { printResult } from './shell.ts';

/** Everything encrypted with the master key. */
export const sealedColumns = [
  sealedSecondFactors,
  sealedDkimKeys,
  ...sealedWebhookSecrets,
  sealedProviderSecrets,
  sealedSigningSecrets,
  sealedSourceUrls,
];

/** Seconds without a heartbeat after which a process is considered gone. */
const nodeTimeoutSeconds = 15;
const waitTimeoutMs = 60_000;
const pollIntervalMs = 250;

/**
 * `key rotate-master`: each run continues where the previous one stopped. Processes have both keys before the database
 * switches the current one, and accept both until `--finish --yes`.
 */
export const rotateMaster = onInstallation(
  ({ finish = false, yes = false }: { readonly finish?: boolean; readonly yes?: boolean }) =>
    async ({ shell, config, database, key }) => {
      // Rejects a key that doesn't belong to the database.
      await key();
      const say = (message: string) => printResult(shell, message, { message });
      if (finish) return await finishRotation(config, database, yes, say);
      return await rotate(config, database, say);
    },
);

async function rotate(config: Config, database: Database, say: Say): Promise<number> {
  const before = await readKeyState(database);
  if (before.previous === null && config.key === undefined) await makeNextKey(config.dataDir);
  const key = await loadMasterKey(config);
  const current = before.current ?? key.fingerprint;
  const next = before.previous === null ? nextOf(key, current) : current;
  if (next === undefined) return explainSettings(say);
  if (before.previous === null) {
    say('Waiting until every process knows the new key.');
    await waitForNodes(database, 'doesn’t have the new key', ({ known }) => known.includes(next));
    await switchKey(database, current, next);
  }
  say('Waiting until every process uses the new key.');
  await waitForNodes(database, 'doesn’t use the new key', (node) => node.current === next);
  const state = await readKeyState(database);
  select(key, state);
  await recordLeftovers(database);
  const { renewed, unreadable } = await resealAll(database, key);
  if (config.key === undefined) await promoteNextKey(config.dataDir, next);
  say(`The new master key is in use. ${renewed} secrets were re-encrypted.`);
  if (unreadable > 0)
    say(
      `${unreadable} secrets can’t be decrypted with either key; they were lost before this rotation.`,
    );
  say('Data created with the previous key still works. To see what depends on it, run:');
  say('  signalpost key rotate-master --finish');
  return 0;
}

async function finishRotation(
  config: Config,
  database: Database,
  yes: boolean,
  say: Say,
): Promise<number> {
  const state = await readKeyState(database);
  if (state.previous === null) {
    // A killed run may have left the file behind.
    if (config.key === undefined) await removePreviousKey(config.dataDir);
    say('No rotation is in progress.');
    return 0;
  }
  if (state.followedAt === null)
    throw new OperatorError(
      'The rotation isn’t ready to finish. First run: signalpost key rotate-master',
    );
  if (config.key === undefined) await promoteNextKey(config.dataDir, state.current ?? '');
  const key = await loadMasterKey(config);
  select(key, state);
  await resealAll(database, key);
  await printLeftovers(database, state, say);
  if (!yes) {
    say('Nothing was changed. To remove the previous key, run:');
    say('  signalpost key rotate-master --finish --yes');
    return 0;
  }
  await endPreviousKey(database, state.previous);
  if (config.key === undefined) await removePreviousKey(config.dataDir);
  else say('Remove SIGNALPOST_KEY_PREVIOUS from the settings of every node.');
  say(
    'The previous master key was removed. Keep a copy of it with backups from before the rotation.',
  );
  return 0;
}

/** The key after the current one; undefined if there is none. */
function nextOf(key: MasterKey, current: string): string | undefined {
  const names = key.fingerprints;
  return names[names.indexOf(current) + 1];
}

function select(key: MasterKey, { current, previous }: KeyState): void {
  if (key.select(current ?? key.fingerprint, previous) !== undefined)
    throw new OperatorError(
      'This command needs both keys: set SIGNALPOST_KEY and SIGNALPOST_KEY_PREVIOUS, or run it on the DATA_DIR that contains them.',
    );
}

function explainSettings(say: Say): number {
  say('On every node, set');
  say(`  SIGNALPOST_KEY=${randomBytes(32).toString('base64')}`);
  say('  SIGNALPOST_KEY_PREVIOUS= to the current value of SIGNALPOST_KEY,');
  say('restart the nodes one at a time, and run this command again with both settings.');
  return 0;
}

async function waitForNodes(
  database: Database,
  problem: string,
  isReady: (node: KeyNode) => boolean,
): Promise<void> {
  const deadline = Date.now() + waitTimeoutMs;
  for (;;) {
    const late = (await readKeyNodes(database, nodeTimeoutSeconds)).filter(
      (node) => !isReady(node),
    );
    const [first] = late;
    if (first === undefined) return;
    if (Date.now() > deadline)
      throw new OperatorError(
        `The node ${first.name} ${problem}${late.length > 1 ? ` (and ${late.length - 1} more)` : ''}. Set both keys there and run this command again.`,
      );
    await delay(pollIntervalMs);
  }
}

async function resealAll(
  database: Database,
  key: MasterKey,
): Promise<{ renewed: number; unreadable: number }> {
  const total = { renewed: 0, unreadable: 0 };
  for (const column of sealedColumns) {
    const { renewed, unreadable } = await resealColumn(database, key, column);
    total.renewed += renewed;
    total.unreadable += unreadable;
  }
  return total;
}

async function printLeftovers(
  database: Database,
  { switchedAt }: KeyState,
  say: Say,
): Promise<void> {
  const { integrations, apiKeys, people, refreshTokens } = await readKeyLeftovers(database);
  const since = switchedAt?.toISOString() ?? '';
  say(
    `These haven’t been used since ${since}. They stop working when the previous key is removed:`,
  );
  printList(
    'client secrets of integrations (create new ones with rotate-secret)',
    integrations,
    say,
  );
  printList('API keys', apiKeys, say);
  printList('recovery codes of people (they can create new ones at /me)', people, say);
  say(`  refresh tokens: ${refreshTokens}`);
  say(
    `In email sent before ${since}, these stop working too: unsubscribe links, guarded links, tracked links and bounces to return paths.`,
  );
}

const maxPrinted = 50;

function printList(what: string, items: readonly string[], say: Say): void {
  say(`  ${what}: ${items.length}`);
  for (const item of items.slice(0, maxPrinted)) say(`    ${item}`);
  if (items.length > maxPrinted) say(`    and ${items.length - maxPrinted} more`);
}

/** Tells what happens; with `--json`, as an object per line. */
type Say = (line: string) => void;

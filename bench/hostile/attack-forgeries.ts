import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../../src/access/api-key.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { type HostileAttack, json } from './attack.ts';

/** Tokens and keys that nobody was given: well formed, each like no other, with a body as large as a send takes. */
export const attackForgeries: HostileAttack = (target, client) => {
  const body = JSON.stringify({ x: 'x'.repeat(250_000) });
  let at = 0;
  return async () => {
    at += 1;
    const forged =
      at % 2 === 0
        ? generateApiKey(target.victimId as AccountId).text
        : `spa_${randomBytes(32).toString('base64url')}`;
    const headers = { ...json, authorization: `Bearer ${forged}` };
    const path = `/ete/v1/email/${target.victimId}/t-0001`;
    return (await client.ask({ path, headers, body })).status;
  };
};

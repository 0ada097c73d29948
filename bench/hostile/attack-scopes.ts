import { type HostileAttack, signedIn } from './attack.ts';

/** A key with 80,000 scopes, and with as many as its body may hold. */
export const attackScopes: HostileAttack = (target, client) => {
  const bodies = [80_000, 1_900].map((count) =>
    JSON.stringify({ name: 'x', scopes: Array.from({ length: count }, (_, at) => `scope ${at}`) }),
  );
  const path = `/manage/v1/accounts/${target.accountId}/keys`;
  const headers = signedIn(target, target.ownerCookie);
  let at = 0;
  return async () => {
    at += 1;
    const body = bodies[at % bodies.length] ?? '';
    return (await client.ask({ path, headers, body })).status;
  };
};

import type { HostileAttack } from './attack.ts';

/** Wrong passwords at the token endpoint, of a client that is registered and of one that is not. */
export const attackToken: HostileAttack = (target, client) => {
  let at = 0;
  return async () => {
    at += 1;
    const body = new URLSearchParams({
      grant_type: 'password',
      username: target.victimEmail,
      password: `guess ${at}`,
      client_id: target.clientId,
      client_secret: at % 2 === 0 ? target.clientSecret : 'guess',
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await client.ask({ path: '/token', headers, body: body.toString() })).status;
  };
};

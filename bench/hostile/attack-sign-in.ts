import type { HostileAttack } from './attack.ts';

/** Wrong passwords of a person of the other account. */
export const attackSignIn: HostileAttack = (target, client) => {
  let visit: { readonly cookie: string; readonly csrf: string } | undefined;
  return async () => {
    if (visit === undefined) {
      const { status, cookie, text } = await client.ask({ method: 'GET', path: '/sign-in' });
      if (status !== 200) return status;
      visit = { cookie, csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' };
    }
    const { csrf, cookie } = visit;
    const body = new URLSearchParams({ csrf, email: target.victimEmail, password: 'not this one' });
    const headers = {
      cookie,
      origin: `http://127.0.0.1:${target.port}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    return (await client.ask({ path: '/sign-in', headers, body: body.toString() })).status;
  };
};

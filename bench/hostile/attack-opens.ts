import type { HostileAttack } from './attack.ts';

/** One message's image, over and over. */
export const attackOpens: HostileAttack = (target, client) => {
  const headers = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/145.0' };
  const call = { method: 'GET', path: target.imagePath, headers };
  return async () => (await client.ask(call)).status;
};

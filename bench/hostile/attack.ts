import type { HostileClient } from './hostile-client.ts';

/** What the attackers know: an account of their own, and public addresses of the other one. */
export interface AttackTarget {
  readonly port: number;
  readonly bouncePort: number;
  readonly accountId: string;
  /** Of the attacked account. */
  readonly victimId: string;
  readonly victimEmail: string;
  /** Cookies of people of the attackers' account. */
  readonly ownerCookie: string;
  readonly viewerCookie: string;
  /** Of the attackers' account. */
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly imagePath: string;
}

/** Prepares one client's part in an attack. @returns what it does over and over, with the status that came */
export type HostileAttack = (target: AttackTarget, client: HostileClient) => () => Promise<number>;

export const json = { 'content-type': 'application/json' } as const;

/** Headers of a person who is signed in to the console. */
export function signedIn(target: AttackTarget, cookie: string): Record<string, string> {
  const origin = `http://127.0.0.1:${target.port}`;
  return { ...json, cookie, origin, 'x-signalpost-request': '1' };
}

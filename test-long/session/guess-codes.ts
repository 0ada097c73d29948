import { parentPort, workerData } from 'node:worker_threads';
import { Secret, TOTP } from 'otpauth';

/** Wrong second factors to send for one half sign-in. */
export interface CodeGuesses {
  readonly url: string;
  readonly cookie: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly secret: string;
  /** At most 1,000, from 203.0.113.0 up. */
  readonly addresses: number;
  readonly guesses: number;
  readonly atOnce: number;
}

const { url, cookie, fields, secret, addresses, guesses, atOnce } = workerData as CodeGuesses;
const right = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
const statuses = new Map<number, number>();
let sent = 0;

async function guess(): Promise<void> {
  while (sent < guesses) {
    const number = sent;
    sent += 1;
    const host = number % addresses;
    const code = String((Number(right) + 1 + (number % 999_000)) % 1_000_000).padStart(6, '0');
    const { status } = await fetch(`${url}/sign-in/code`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie,
        origin: url,
        'x-forwarded-for': `203.0.${113 + Math.floor(host / 250)}.${(host % 250) + 1}`,
      },
      body: new URLSearchParams({ ...fields, code }),
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (number === 2 * atOnce) parentPort?.postMessage('in full flood');
  }
}

await Promise.all(Array.from({ length: atOnce }, guess));
parentPort?.postMessage(statuses);

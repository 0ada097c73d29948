import { setTimeout as delay } from 'node:timers/promises';
import { answerOrder, runOrder } from '../child-program.ts';
import { HttpClient } from '../http-client.ts';
import { type AttackTarget, attacks } from './attacks.ts';

interface AttackOrder {
  readonly target: AttackTarget;
  readonly clients: number;
  readonly seconds: number;
  /** Assigned to the clients in turn. */
  readonly names: readonly string[];
}

/** Rounds by status, which is 0 for closed connections. */
export type AttackReport = Readonly<Record<string, number>>;

/** Runs the attackers in a process of their own. */
export function runAttackers(order: AttackOrder): Promise<AttackReport> {
  return runOrder(import.meta.filename, order);
}

/** Each client has a network of its own, so that a limit for each network applies to it alone. */
async function attackFor({ target, clients, names, seconds }: AttackOrder): Promise<AttackReport> {
  const statuses: Record<string, number> = {};
  for (let number = 0; number < clients; number += 1) {
    const attack = attacks[names[number % names.length] ?? ''];
    if (attack === undefined) throw new Error(`an attack is unknown: ${names}`);
    const localAddress = `127.66.${number + 1}.1`;
    const strike = attack(target, new HttpClient(target.port, { localAddress }), localAddress);
    void (async () => {
      for (;;) {
        const status = await strike();
        statuses[status] = (statuses[status] ?? 0) + 1;
        // Don't spin while connections can't be opened.
        if (status === 0) await delay(10);
      }
    })();
  }
  await delay(seconds * 1_000);
  return statuses;
}

if (import.meta.main) await answerOrder(attackFor);

import { setTimeout as delay } from 'node:timers/promises';
import type { AttackTarget } from './attack.ts';
import { attacks } from './attacks.ts';
import { HostileClient } from './hostile-client.ts';

export interface AttackOrder {
  readonly target: AttackTarget;
  readonly clients: number;
  readonly seconds: number;
  /** Shared out among the clients in turn. */
  readonly names: readonly string[];
}

/** Rounds by what came of them: a status, or 0 for a connection that was closed. */
export type AttackReport = Readonly<Record<string, number>>;

/** Each client repeats its attack as soon as the last one is answered, until the process ends. */
function beginAttacks({ target, clients, names }: AttackOrder): AttackReport {
  const statuses: Record<string, number> = {};
  for (let number = 0; number < clients; number += 1) {
    const attack = attacks[names[number % names.length] ?? ''];
    if (attack === undefined) throw new Error(`no attack of ${names}`);
    const strike = attack(target, new HostileClient(target.port, number + 1));
    void (async () => {
      for (;;) {
        const status = await strike();
        statuses[status] = (statuses[status] ?? 0) + 1;
        // A connection that can't be opened must not become a loop without end.
        if (status === 0) await delay(10);
      }
    })();
  }
  return statuses;
}

if (import.meta.main) {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const order = JSON.parse(Buffer.concat(chunks).toString()) as AttackOrder;
  const report = beginAttacks(order);
  await delay(order.seconds * 1_000);
  process.stdout.write(JSON.stringify(report), () => process.exit(0));
}

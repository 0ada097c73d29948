import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { PatroniMember } from './patroni-member.ts';

/** Between two looks at a member. */
const intervalMs = 25;
const answerTimeoutMs = 500;
/** Commits wait for a standby, which takes as long as it takes. */
const commitTimeoutMs = 60_000;

/** A member that began to accept writes, on a timeline that no other had. */
interface Promotion {
  readonly member: PatroniMember;
  /** Unix milliseconds. */
  readonly at: number;
  /** When its first commit of a probe was safe, on a standby too if it must be. Undefined until then. */
  committedAt: number | undefined;
}

/** The timeline of a member that accepts writes; null of a standby. */
const question = `select case when pg_is_in_recovery() then null
  else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/** Watches each member directly, so that it sees a promotion as soon as it has happened, whatever the service knows. */
export class MemberWatch {
  readonly promotions: Promotion[] = [];
  readonly #loops: readonly Promise<void>[];
  #timeline = 0;
  #running = true;

  constructor(members: readonly PatroniMember[]) {
    this.#loops = members.map((member) => this.#watch(member));
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#loops);
  }

  async #watch(member: PatroniMember): Promise<void> {
    let client: pg.Client | undefined;
    while (this.#running) {
      try {
        client ??= await member.connect(answerTimeoutMs);
        const { rows } = await client.query<{ timeline: number | null }>(question);
        const timeline = rows[0]?.timeline ?? 0;
        if (timeline > this.#timeline) this.#notePromotion(member, timeline);
      } catch {
        client?.end().catch(() => undefined);
        client = undefined;
      }
      await delay(intervalMs);
    }
    client?.end().catch(() => undefined);
  }

  #notePromotion(member: PatroniMember, timeline: number): void {
    const isFirst = this.#timeline === 0;
    this.#timeline = timeline;
    if (isFirst) return;
    const promotion: Promotion = { member, at: Date.now(), committedAt: undefined };
    this.promotions.push(promotion);
    commitProbe(member).then(
      () => {
        promotion.committedAt = Date.now();
      },
      () => undefined,
    );
  }
}

/** Commits something that leaves no trace; resolves once it is safe. */
async function commitProbe(member: PatroniMember): Promise<void> {
  const client = await member.connect(commitTimeoutMs);
  try {
    await client.query("select pg_logical_emit_message(true, 'probe', '')");
  } finally {
    client.end().catch(() => undefined);
  }
}

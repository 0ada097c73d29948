import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { PatroniMember } from './patroni-member.ts';

/** Polling interval of a member. */
const intervalMs = 25;
const answerTimeoutMs = 500;
/** Long, because commits wait for a standby. */
const commitTimeoutMs = 60_000;

/** A member that began to accept writes, on a timeline that no other had. */
interface Promotion {
  readonly member: PatroniMember;
  /** Unix milliseconds. */
  readonly at: number;
  /** When its first commit of a probe was safe, on a standby too if it must be. Undefined until then. */
  committedAt: number | undefined;
  /** Since then, when it was last seen without a standby that commits can wait for, in Unix milliseconds. */
  readonly alone: { readonly from: number; to: number }[];
}

/** The timeline of a member that accepts writes, null of a standby; and whether it has a standby that commits wait for. */
const question = `select case when pg_is_in_recovery() then null
    else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline,
  exists (select from pg_stat_replication where sync_state = 'sync' and state = 'streaming') as followed`;

interface Answer {
  readonly timeline: number | null;
  readonly followed: boolean;
}

/** Watches each member directly, so that it sees a promotion immediately, independently of the service. */
export class MemberWatch {
  readonly promotions: Promotion[] = [];
  readonly #loops: readonly Promise<void>[];
  #timeline = 0;
  #wasAlone = false;
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
        const { rows } = await client.query<Answer>(question);
        const timeline = rows[0]?.timeline ?? 0;
        if (timeline > this.#timeline) this.#notePromotion(member, timeline);
        if (timeline === this.#timeline) this.#noteStandby(member, rows[0]?.followed === true);
      } catch {
        client?.end().catch(() => undefined);
        client = undefined;
      }
      await delay(intervalMs);
    }
    client?.end().catch(() => undefined);
  }

  #noteStandby(member: PatroniMember, followed: boolean): void {
    const promotion = this.promotions.at(-1);
    if (promotion?.member !== member) return;
    const now = Date.now();
    const last = promotion.alone.at(-1);
    if (this.#wasAlone && last !== undefined) last.to = now;
    else if (!followed) promotion.alone.push({ from: now, to: now });
    this.#wasAlone = !followed;
  }

  #notePromotion(member: PatroniMember, timeline: number): void {
    const isFirst = this.#timeline === 0;
    this.#wasAlone = false;
    this.#timeline = timeline;
    if (isFirst) return;
    const promotion: Promotion = { member, at: Date.now(), committedAt: undefined, alone: [] };
    this.promotions.push(promotion);
    commitProbe(member).then(
      () => {
        promotion.committedAt = Date.now();
      },
      () => undefined,
    );
  }
}

/** Commits a transaction that leaves no trace; resolves once it is safe. */
async function commitProbe(member: PatroniMember): Promise<void> {
  const client = await member.connect(commitTimeoutMs);
  try {
    await client.query("select pg_logical_emit_message(true, 'probe', '')");
  } finally {
    client.end().catch(() => undefined);
  }
}

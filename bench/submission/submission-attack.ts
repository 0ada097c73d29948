import { setTimeout as delay } from 'node:timers/promises';
import { answerOrder, runOrder } from '../child-program.ts';
import { BenchSessionLost, BenchSmtpSession } from './bench-smtp-session.ts';
import type { SubmissionLogin } from './submission-load.ts';

/** `docs/benchmarks-method.md` describes them. */
export const submissionAttacks = ['trickles', 'lines'] as const;
type SubmissionAttack = (typeof submissionAttacks)[number];

interface AttackOrder {
  readonly attack: SubmissionAttack;
  readonly port: number;
  /** Of the attackers' accounts. */
  readonly logins: readonly SubmissionLogin[];
  readonly seconds: number;
}

interface AttackReport {
  /** Sessions that were open at the end. */
  readonly open: number;
}

/** Attacks from a separate process. */
export function runSubmissionAttack(order: AttackOrder): Promise<AttackReport> {
  return runOrder(import.meta.filename, order);
}

/** Max sessions from one address; limits apply to each. */
const sessionsPerAddress = 50;
const counts: Readonly<Record<SubmissionAttack, number>> = { trickles: 500, lines: 20 };
/** Max sessions of an account; the others don't log in. */
const sessionsPerAccount = 40;
const trickleMs = 1_000;
/** Pause between session starts, whose handshakes would otherwise be the attack. */
const rampMs = 15;
const longLine = Buffer.from(`${'x'.repeat(1_048_574)}\r\n`);

async function attack({ attack: kind, port, logins, seconds }: AttackOrder): Promise<AttackReport> {
  let open = 0;
  const holdOne = async (place: number): Promise<void> => {
    const login = logins[Math.floor(place / sessionsPerAccount)];
    const localAddress = `127.67.${1 + Math.floor(place / sessionsPerAddress)}.1`;
    for (;;) {
      try {
        const session = await BenchSmtpSession.open({ port, localAddress, timeoutMs: 0 });
        open += 1;
        try {
          if (login !== undefined) await beginMessage(session, login);
          await (kind === 'trickles' ? trickle : sendLines)(session);
        } finally {
          open -= 1;
          session.close();
        }
      } catch (error) {
        if (!(error instanceof BenchSessionLost)) throw error;
      }
      // Don't spin while sessions are refused.
      await delay(trickleMs);
    }
  };
  const end = delay(seconds * 1_000);
  for (let place = 0; place < counts[kind]; place += 1) {
    void holdOne(place);
    await delay(rampMs);
  }
  await end;
  return { open };
}

async function beginMessage(session: BenchSmtpSession, login: SubmissionLogin): Promise<void> {
  await session.login(login.user, login.password);
  await session.command('MAIL FROM:<attacker@shop.test>');
  await session.command('RCPT TO:<reader@example.test>');
  await session.command('DATA');
}

/** A byte at a time: of a message, or of a command without a login. */
async function trickle(session: BenchSmtpSession): Promise<void> {
  while (!session.isLost) {
    session.write('x');
    await delay(trickleMs);
  }
}

/** Lines of a mebibyte, as fast as the server reads them. */
async function sendLines(session: BenchSmtpSession): Promise<void> {
  while (!session.isLost) await session.writeAll(longLine);
}

if (import.meta.main) await answerOrder(attack);

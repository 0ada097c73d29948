import { setTimeout as delay } from 'node:timers/promises';
import { answerOrder, runOrder } from '../child-program.ts';
import { LatencyHistogram } from '../latency-histogram.ts';
import { BenchSessionLost, BenchSmtpSession, toWire } from './bench-smtp-session.ts';

export interface SubmissionLogin {
  readonly user: string;
  readonly password: string;
}

export interface SubmissionOrder {
  /** With STARTTLS, on this machine. */
  readonly port: number;
  /** Undefined: without a login. */
  readonly login?: SubmissionLogin;
  readonly sessions: number;
  readonly seconds: number;
  /** Messages a second, each due at its own time; undefined: each session submits as fast as it gets replies. */
  readonly rate?: number;
  /** The message after its Message-ID field, with CRLF line ends. */
  readonly message: string;
}

export interface SubmissionReport {
  /** Messages with a 250. */
  readonly accepted: number;
  /** Replies to messages by code; 0 counts sessions that ended without one. */
  readonly codes: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** The counts of a `LatencyHistogram`: from MAIL, or from when the message was due, to the reply to its dot. */
  readonly latencies: readonly number[];
}

/** Submits messages in a separate process. */
export function runSubmissionLoad(order: SubmissionOrder): Promise<SubmissionReport> {
  return runOrder(import.meta.filename, order);
}

/** Max messages per session; servers limit them. */
const messagesPerSession = 900;

async function openSession({ port, login }: SubmissionOrder): Promise<BenchSmtpSession> {
  const session = await BenchSmtpSession.open({ port });
  if (login === undefined) return session;
  const code = await session.login(login.user, login.password);
  if (code !== 235) throw new Error(`the login got ${code}`);
  return session;
}

async function submitAll(order: SubmissionOrder): Promise<SubmissionReport> {
  const { rate } = order;
  const rest = Buffer.from(toWire(order.message));
  const prefix = `bench-${Date.now()}`;
  const codes: Record<string, number> = {};
  const latencies = new LatencyHistogram();
  let accepted = 0;
  let number = 0;
  const open = () => openSession(order);
  const sessions = await Promise.all(Array.from({ length: order.sessions }, open));
  const start = performance.now();
  const end = start + order.seconds * 1_000;
  const submitOne = async (session: BenchSmtpSession): Promise<number> => {
    number += 1;
    const head = `Message-ID: <${prefix}-${number}@app.test>\r\n`;
    const recipients = [`reader${number}@example.test`];
    try {
      return await session.submit('orders@shop.test', recipients, [head, rest]);
    } catch (error) {
      if (!(error instanceof BenchSessionLost)) throw error;
      return 0;
    }
  };
  let scheduled = 0;
  const drive = async (first: BenchSmtpSession): Promise<void> => {
    let session = first;
    for (let sent = 1; ; sent += 1) {
      const now = performance.now();
      const dueAt = rate === undefined ? now : start + (scheduled++ * 1_000) / rate;
      if (dueAt >= end) break;
      if (dueAt > now) await delay(Math.ceil(dueAt - now));
      const code = await submitOne(session);
      latencies.add(performance.now() - dueAt);
      codes[code] = (codes[code] ?? 0) + 1;
      if (code === 250) accepted += 1;
      if (!session.isLost && sent % messagesPerSession !== 0) continue;
      session.close();
      session = await open();
    }
    session.close();
  };
  await Promise.all(sessions.map(drive));
  const seconds = (performance.now() - start) / 1_000;
  return { accepted, codes, seconds, latencies: latencies.counts };
}

if (import.meta.main) await answerOrder(submitAll);

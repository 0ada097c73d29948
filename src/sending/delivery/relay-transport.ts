import { type PoolOptions, SmtpPool } from './smtp-pool.ts';
import type { SmtpServerSettings } from './smtp-server-settings.ts';
import {
  type AdmittedTransaction,
  admitAlways,
  type OutgoingMail,
  type TransactionEnd,
  type TransactionResult,
  type Transport,
} from './transport.ts';

/**
 * Hands mail to the first relay that accepts it, in the configured order. The next relay is tried only if this one was
 * unreachable or closed the session before receiving the text, so no message is ever sent through two relays.
 */
export class RelayTransport implements Transport {
  readonly #relays: readonly SmtpPool[];

  constructor(servers: readonly SmtpServerSettings[], options: PoolOptions) {
    this.#relays = servers.map((server) => new SmtpPool(server, options));
  }

  async admit(): Promise<AdmittedTransaction> {
    return admitAlways((mail, releaseDot, stopping) => this.send(mail, releaseDot, stopping));
  }

  async send(
    mail: OutgoingMail,
    releaseDot: () => Promise<boolean>,
    stopping: AbortSignal,
  ): Promise<TransactionResult> {
    const transcript: string[] = [];
    let result: TransactionResult | undefined;
    for (const relay of this.#relays) {
      if (result !== undefined && !shouldTryNextRelay(result.end)) break;
      result = await relay.send(mail, releaseDot, stopping);
      transcript.push(`* relay ${result.server}`, ...result.transcript);
    }
    if (result === undefined) throw new Error('no relay is configured');
    return { ...result, relayId: relayIdOf(result.end), transcript };
  }

  drop(): void {
    for (const relay of this.#relays) relay.drop();
  }

  async close(): Promise<void> {
    await Promise.all(this.#relays.map((relay) => relay.close()));
  }
}

/** Amazon SES replies `250 Ok` and the ID that its notifications have as `mail.messageId`. */
const relayIdReply = /^Ok ([\w-]{20,100})$/i;

function relayIdOf(end: TransactionEnd): string | undefined {
  if (end.kind !== 'reply' || end.stage !== 'final' || end.reply.code !== 250) return undefined;
  return relayIdReply.exec(end.reply.text)?.[1];
}

function shouldTryNextRelay(end: TransactionEnd): boolean {
  if (end.kind === 'fault') return end.stage !== 'data' && end.stage !== 'final';
  if (end.kind !== 'reply') return false;
  if (end.stage === 'connect') return true;
  // RFC 5321 section 4.2.3: 421 closes the session, whatever the command was.
  return end.reply.code === 421 && (end.stage === 'mail' || end.stage === 'rcpt');
}

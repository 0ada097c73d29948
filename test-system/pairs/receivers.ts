import { type Sink, startSink } from '../../test/support/mail-sink.ts';

/** Mail as a receiving server got it. */
export interface ArrivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

/** Where a server doesn't reply: to RCPT, or after the final dot. */
export type Hold = 'before the dot' | 'after the dot';

/** All receiving servers, on one port. They can stop replying to the mail for some domains. */
export class Receivers {
  /** What they didn't reply to, after the final dot. */
  readonly unanswered: ArrivedMail[] = [];
  readonly #sink: Sink;
  #holds: ReadonlyMap<string, Hold> = new Map();
  /** Domains whose servers don't reply now. */
  readonly #held = new Set<string>();

  private constructor(sink: Sink) {
    this.#sink = sink;
  }

  static async start(): Promise<Receivers> {
    const isHeld = (address: string, hold: Hold): boolean => {
      const domain = address.slice(address.indexOf('@') + 1);
      if (receivers.#holds.get(domain) !== hold) return false;
      receivers.#held.add(domain);
      return true;
    };
    const sink = await startSink({
      async onMessage(mail) {
        const { to } = mail;
        if (!to.some((address) => isHeld(address, 'after the dot'))) return undefined;
        receivers.unanswered.push(mail);
        return new Promise(() => undefined);
      },
      options: {
        onRcptTo({ address }, _session, callback) {
          if (!isHeld(address, 'before the dot')) callback();
        },
      },
    });
    const receivers: Receivers = new Receivers(sink);
    return receivers;
  }

  get port(): number {
    return this.#sink.port;
  }

  get mails(): readonly ArrivedMail[] {
    return this.#sink.mails;
  }

  /** From now on, the servers of these domains don't reply. */
  hold(domains: ReadonlyMap<string, Hold>): void {
    this.#holds = domains;
  }

  /** True if somebody waits for the reply of each of them. */
  holdsAll(): boolean {
    return this.#held.size === this.#holds.size;
  }

  release(): void {
    this.#holds = new Map();
  }
}

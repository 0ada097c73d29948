import { after } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { TestCertificate } from './test-certificates.ts';

export interface MxMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
  readonly encrypted: boolean;
  readonly peer: string;
  /** The client's EHLO name. */
  readonly greeting: string;
}

export interface TestMxOptions {
  /** 127.0.0.2 and up, so that several servers can share one port. */
  readonly address: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly certificate?: TestCertificate | undefined;
  /** Offers STARTTLS but fails at it. */
  readonly brokenTls?: boolean;
  /** Returns a rejecting reply or undefined. */
  readonly onConnect?: () => string | undefined;
  readonly onMail?: () => string | undefined;
  readonly onRcpt?: (address: string) => string | undefined;
  readonly onData?: () => string | undefined;
  /** Resolves when the greeting may be sent. */
  readonly beforeGreeting?: () => Promise<void>;
  /** Without SMTPUTF8. */
  readonly ascii?: boolean;
  /** Without 8BITMIME. */
  readonly sevenBit?: boolean;
}

/** A mail server for tests. */
export class TestMx {
  readonly mails: MxMail[] = [];
  connections = 0;
  /** Currently open connections, and the most there have been at once. */
  open = 0;
  maxOpen = 0;
  readonly #server: SMTPServer;
  readonly #options: TestMxOptions;
  port = 0;

  constructor(options: TestMxOptions) {
    this.#options = options;
    this.#server = new SMTPServer(this.#settings());
    this.#server.on('error', () => undefined);
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port, this.#options.address, () => resolve());
    });
    this.port = (this.#server.server.address() as { port: number }).port;
    after(() => this.stop());
    return this;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #settings(): SMTPServerOptions {
    const { certificate, ...options } = this.#options;
    const noTls = certificate === undefined && options.brokenTls !== true;
    return {
      authOptional: true,
      disabledCommands: ['AUTH', ...(noTls ? ['STARTTLS'] : [])],
      hideSMTPUTF8: options.ascii === true,
      hide8BITMIME: options.sevenBit === true,
      disableReverseLookup: true,
      closeTimeout: 100,
      ...(certificate !== undefined && { key: certificate.key, cert: certificate.cert }),
      ...(options.brokenTls === true && { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' }),
      onConnect: (_session, done) => {
        this.connections += 1;
        this.open += 1;
        this.maxOpen = Math.max(this.maxOpen, this.open);
        void (options.beforeGreeting?.() ?? Promise.resolve()).then(() =>
          done(refusal(options.onConnect?.())),
        );
      },
      onClose: () => {
        this.open -= 1;
      },
      onMailFrom: (_address, _session, done) => done(refusal(options.onMail?.())),
      onRcptTo: ({ address }, _session, done) => done(refusal(options.onRcpt?.(address))),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const refused = refusal(options.onData?.());
          const { mailFrom, rcptTo } = session.envelope;
          if (refused === undefined)
            this.mails.push({
              from: mailFrom === false ? '' : mailFrom.address,
              to: rcptTo.map(({ address }) => address),
              source: Buffer.concat(chunks).toString('latin1'),
              encrypted: session.secure,
              peer: session.remoteAddress,
              greeting: String(session.hostNameAppearsAs),
            });
          done(refused);
        });
      },
    };
  }
}

/** Turns `550 5.1.1 text` into the error that the server library expects. */
function refusal(reply: string | undefined): Error | undefined {
  if (reply === undefined) return undefined;
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) });
}

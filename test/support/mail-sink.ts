import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

interface SinkMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

/** How the sink replies; each hook returns a rejection (`550 5.1.1 No such user`) or undefined. */
export interface SinkBehavior {
  readonly onConnect?: () => string | undefined;
  readonly onMail?: (address: string) => string | undefined;
  readonly onRcpt?: (address: string) => Promise<string | undefined> | string | undefined;
  readonly onMessage?: (mail: SinkMail) => Promise<string | undefined> | string | undefined;
  readonly options?: SMTPServerOptions;
}

export interface Sink {
  readonly port: number;
  readonly mails: SinkMail[];
  connections: number;
  close(): Promise<void>;
}

/** A real SMTP server that stores the mail it accepts, which is only mail whose final dot arrived. */
export async function startSink(behavior: SinkBehavior = {}, port = 0): Promise<Sink> {
  const mails: SinkMail[] = [];
  const sink = { mails, connections: 0 };
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onConnect(_session, callback) {
      sink.connections += 1;
      callback(refusal(behavior.onConnect?.()));
    },
    onMailFrom(address, _session, callback) {
      callback(refusal(behavior.onMail?.(address.address)));
    },
    async onRcptTo(address, _session, callback) {
      callback(refusal(await behavior.onRcpt?.(address.address)));
    },
    async onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of stream) chunks.push(chunk as Buffer);
      } catch {
        // The client disconnected before the final dot, so there is no message.
        return;
      }
      const { mailFrom, rcptTo } = session.envelope;
      const mail = {
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        source: Buffer.concat(chunks).toString(),
      };
      const refused = refusal(await behavior.onMessage?.(mail));
      if (refused === null) mails.push(mail);
      callback(refused);
    },
    ...behavior.options,
  });
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  after(close);
  return Object.assign(sink, { port: (server.server.address() as AddressInfo).port, close });
}

function refusal(reply: string | undefined): Error | null {
  if (reply === undefined) return null;
  const match = /^(\d{3}) (.*)$/s.exec(reply);
  return Object.assign(new Error(match?.[2]), { responseCode: Number(match?.[1]) });
}

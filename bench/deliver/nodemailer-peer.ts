import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import { forkFile, stopChild } from '../child-program.ts';
import { compileLetter } from './letter.ts';

/** Another program that sends the letter to the sink. */
export interface Peer {
  readonly name: string;
  /** Resolves once it has all messages. */
  send(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A stock Nodemailer pool in a separate process. */
export async function startNodemailer(
  sinkPort: number,
  keyFile: string,
  connections: number,
): Promise<Peer> {
  const child = forkFile(import.meta.filename, [String(sinkPort), keyFile, String(connections)]);
  await once(child, 'message');
  return {
    name: 'nodemailer',
    send: async (count) => void child.send(count),
    stop: () => stopChild(child),
  };
}

/** Composes and signs the letter from ready-made text bodies. */
async function runPool([port = '', keyFile = '', connections = '']: string[]): Promise<void> {
  const render = await compileLetter();
  const privateKey = readFileSync(keyFile, 'utf8');
  const transport = createTransport({
    pool: true,
    host: '127.0.0.1',
    port: Number(port),
    secure: false,
    ignoreTLS: true,
    maxConnections: Number(connections),
    maxMessages: Number.POSITIVE_INFINITY,
    dkim: { domainName: 'shop.test', keySelector: 'bench', privateKey },
  });
  const sendOne = async (number: number): Promise<void> => {
    const { subject, html, text } = render(number);
    const from = { name: 'Demo Shop', address: 'orders@shop.test' };
    const to = `reader${number}@example.test`;
    await transport.sendMail({ from, to, subject, html: html ?? '', text: text ?? '' });
  };
  process.on('message', (count: number) => {
    let next = 0;
    const sendLoop = async (): Promise<void> => {
      while (next < count) await sendOne(next++);
    };
    for (let place = 0; place < Number(connections) * 2; place += 1) void sendLoop();
  });
  process.on('disconnect', () => transport.close());
  process.send?.('ready');
}

if (import.meta.main) await runPool(process.argv.slice(2));

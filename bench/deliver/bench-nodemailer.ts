import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import { loadTemplate } from '../../src/rendering/load-template.ts';
import { renderMessage } from '../../src/rendering/render-message.ts';
import { compileTemplate } from '../../src/template/compile-template.ts';
import { letter, letterValues } from './letter.ts';

/**
 * The peer: a stock Nodemailer pool that composes and signs the same message, with its bodies ready as text:
 * `bench-nodemailer.ts PORT KEY_FILE CONNECTIONS`. Each number that it is told is so many messages to send.
 */
const [port = '', keyFile = '', connections = ''] = process.argv.slice(2);
const { compiled } = await compileTemplate(letter);
if (compiled === null) throw new Error('the letter does not compile');
const template = loadTemplate(compiled);
const transport = createTransport({
  pool: true,
  host: '127.0.0.1',
  port: Number(port),
  secure: false,
  ignoreTLS: true,
  maxConnections: Number(connections),
  maxMessages: Number.POSITIVE_INFINITY,
  dkim: {
    domainName: 'shop.test',
    keySelector: 'bench',
    privateKey: readFileSync(keyFile, 'utf8'),
  },
});

async function sendOne(number: number): Promise<void> {
  const rendered = renderMessage(template, { values: letterValues(number) });
  await transport.sendMail({
    from: { name: 'Demo Shop', address: 'orders@shop.test' },
    to: `reader${number}@example.test`,
    subject: rendered.subject,
    html: rendered.html ?? '',
    text: rendered.text ?? '',
  });
}

process.on('message', (count: number) => {
  let next = 0;
  const sendLoop = async (): Promise<void> => {
    while (next < count) await sendOne(next++);
  };
  for (let place = 0; place < Number(connections) * 2; place += 1) void sendLoop();
});
process.on('disconnect', () => transport.close());
process.send?.('ready');

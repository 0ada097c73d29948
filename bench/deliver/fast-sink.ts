import { type AddressInfo, createServer, type Socket } from 'node:net';

/**
 * A receiver that does as little as possible, in a process of its own: it pipelines (RFC 2920), looks only for line ends
 * and final dots, and tells its parent how many messages it took since the parent's last word, when the first of them
 * came, and when each message came whose recipient begins with `single`. Times are those of the machine's monotonic clock
 * in milliseconds, which all processes share.
 */
const crlf = Buffer.from('\r\n');
const dot = Buffer.from('\r\n.\r\n');
const marked = 'RCPT TO:<single';
let taken = 0;
let first: number | undefined;
let singles: { address: string; at: number }[] = [];
let telling = false;

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

process.on('message', () => {
  taken = 0;
  first = undefined;
  process.send?.({ taken });
});

/** Once for all that came in one turn. */
function tell(): void {
  if (telling) return;
  telling = true;
  setImmediate(() => {
    telling = false;
    process.send?.({ taken, first, singles });
    singles = [];
  });
}

function serve(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  let inText = false;
  let single: string | undefined;
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.write('220 sink ESMTP\r\n');
  socket.on('data', (chunk) => {
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let replies = '';
    for (;;) {
      const end = data.indexOf(inText ? dot : crlf);
      if (end === -1) break;
      if (inText) {
        data = data.subarray(end + 5);
        inText = false;
        taken += 1;
        first ??= now();
        if (single !== undefined) singles.push({ address: single, at: now() });
        single = undefined;
        tell();
        replies += '250 2.0.0 Taken\r\n';
        continue;
      }
      const verb = data.toString('latin1', 0, 4);
      if (verb === 'RCPT' && data.toString('latin1', 0, marked.length) === marked)
        single = data.toString('latin1', 9, data.indexOf('>'));
      data = data.subarray(end + 2);
      if (verb === 'EHLO') replies += '250-sink\r\n250-PIPELINING\r\n250-SIZE\r\n250 8BITMIME\r\n';
      else if (verb === 'DATA') {
        replies += '354 Go on\r\n';
        inText = true;
      } else if (verb === 'QUIT') replies += '221 Bye\r\n';
      else replies += '250 2.0.0 Ok\r\n';
    }
    rest = data;
    if (replies !== '') socket.write(replies);
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));

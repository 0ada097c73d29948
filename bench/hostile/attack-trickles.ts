import type { HostileAttack } from './attack.ts';
import { holdConnections } from './hold-connections.ts';

const connections = 100;
const head = [
  'POST /token HTTP/1.1',
  'Host: 127.0.0.1',
  'Content-Type: application/x-www-form-urlencoded',
  'Content-Length: 16000',
  '\r\n',
].join('\r\n');

/** A hundred bodies that come a byte at a time. */
export const attackTrickles: HostileAttack =
  ({ port }, { address }) =>
  () =>
    holdConnections({ count: connections, port, from: address }, (socket) => {
      socket.write(head);
      const timer = setInterval(() => socket.write('x'), 100);
      socket.once('close', () => clearInterval(timer));
      socket.resume();
    });

import type { HostileAttack } from './attack.ts';
import { holdConnections } from './hold-connections.ts';

const connections = 20;

/** SMTP sessions that send NOOP as fast as it is answered. */
export const attackNoops: HostileAttack =
  ({ bouncePort }, { address }) =>
  () =>
    holdConnections({ count: connections, port: bouncePort, from: address }, (socket) => {
      socket.write('EHLO there\r\n');
      socket.on('data', () => socket.write('NOOP\r\n'));
    });

import type { HostileAttack } from './attack.ts';
import { holdConnections } from './hold-connections.ts';

const connections = 400;

/** Connections that say nothing, opened again when they are closed. */
export const attackIdle: HostileAttack =
  ({ port }, { address }) =>
  () =>
    holdConnections({ count: connections, port, from: address }, (socket) => socket.resume());

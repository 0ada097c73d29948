import type { ClientRequest } from 'node:http';

/**
 * Fails a request whose server switches protocols (RFC 9110 section 15.2.2). Without a listener, Node closes it with neither a
 * response nor an error, so its caller would wait forever.
 */
export function refuseUpgrade(request: ClientRequest): void {
  request.once('upgrade', (_response, socket) => {
    socket.destroy();
    request.emit('error', new Error('the server switched protocols'));
  });
}

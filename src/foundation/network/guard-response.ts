import type { ClientRequest } from 'node:http';

/** Servers send one or two (RFC 9110 section 15.2), such as 103 of RFC 8297. */
const maxInterimResponses = 10;

/**
 * Fails a request whose server switches protocols (RFC 9110 section 15.2.2) or sends interim responses without end. Without a
 * listener, Node closes the former with neither a response nor an error, so its caller would wait forever.
 */
export function guardResponse(request: ClientRequest): void {
  request.once('upgrade', (_response, socket) => {
    socket.destroy();
    request.emit('error', new Error('the server switched protocols'));
  });
  let count = 0;
  request.on('information', () => {
    count += 1;
    if (count > maxInterimResponses)
      request.destroy(new Error('the server sent too many interim responses'));
  });
}

import type { ClientRequest } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { HostNames } from '../dns/host-names.ts';
import type { PublicNetworks } from './public-networks.ts';

export const privateAddressMessage = 'the address is inside a private network';

/**
 * A `lookup` that fails unless every address of the name is allowed. The connection uses the checked address, which prevents
 * DNS rebinding.
 */
export function guardedLookup(networks: PublicNetworks, hostNames: HostNames): LookupFunction {
  return (hostname, options, callback) => {
    void hostNames.lookUp(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => networks.allows(address)))
          return callback(new Error(privateAddressMessage), '', 0);
        if (options.all === true) return callback(null, [...addresses]);
        return callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
}

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

import type { LookupAddress } from 'node:dns';
import type { ClientRequest } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { HostNames } from '../dns/host-names.ts';
import type { PublicNetworks } from './public-networks.ts';

export const privateAddressMessage = 'the address is inside a private network';

/**
 * The addresses of a host. A connection uses one of them, which prevents DNS rebinding.
 * @throws Error if it has none, or one that isn't allowed
 */
export async function allowedAddresses(
  host: string,
  hostNames: HostNames,
  allows: (address: string) => boolean,
): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
  const family = isIP(host);
  const [first, ...others] =
    family === 0 ? await hostNames.lookUp(host) : [{ address: host, family }];
  if (first === undefined || ![first, ...others].every(({ address }) => allows(address)))
    throw new Error(privateAddressMessage);
  return [first, ...others];
}

/** A `lookup` that fails unless every address of the name is allowed. */
export function guardedLookup(networks: PublicNetworks, hostNames: HostNames): LookupFunction {
  return (hostname, options, callback) => {
    void allowedAddresses(hostname, hostNames, (address) => networks.allows(address)).then(
      ([first, ...others]) =>
        options.all === true
          ? callback(null, [first, ...others])
          : callback(null, first.address, first.family),
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

import { lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { PublicNetworks } from './public-networks.ts';

export const privateAddressMessage = 'the address is inside a private network';

/**
 * Looks names up for one connection and answers only where every address may be asked. The connection goes to an address
 * that was checked, so a name that changes in between leads nowhere else (DNS rebinding).
 */
export function guardedLookup(networks: PublicNetworks): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => networks.allows(address)))
        return callback(new Error(privateAddressMessage), '', 0);
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

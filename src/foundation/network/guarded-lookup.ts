import { lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { PublicNetworks } from './public-networks.ts';

export const privateAddressMessage = 'the address is inside a private network';

/**
 * A `lookup` that fails unless every address of the name is allowed. The connection uses the checked address, which prevents
 * DNS rebinding.
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

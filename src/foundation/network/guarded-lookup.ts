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

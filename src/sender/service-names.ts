import { hostname } from 'node:os';
import type { ServiceNames } from './sending-domain.ts';

/** Settings that determine the names of this installation. */
export interface NameSettings {
  readonly hostname: string | undefined;
  readonly direct: { readonly sources: readonly { readonly address: string | undefined }[] };
  readonly publicUrl: string | undefined;
}

/** The names and addresses used in the records of sending domains. */
export function serviceNames(settings: NameSettings): ServiceNames {
  const { publicUrl, direct } = settings;
  return {
    host: settings.hostname ?? hostname().toLowerCase(),
    addresses: direct.sources.flatMap(({ address }) => (address === undefined ? [] : [address])),
    trackingTarget: publicUrl === undefined ? undefined : new URL(publicUrl).hostname,
  };
}

/** Record types the service looks up. */
export type DnsType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'PTR' | 'TXT';

/** The data of each record type. */
export interface DnsData {
  readonly A: string;
  readonly AAAA: string;
  readonly CNAME: string;
  readonly MX: { readonly preference: number; readonly exchange: string };
  readonly NS: string;
  readonly PTR: string;
  /** The strings of one record, joined (RFC 7208 section 3.3, RFC 6376 section 3.6.2.2). */
  readonly TXT: string;
}

/**
 * The result of a lookup. `absent`: the name (`name`) or records of this type (`records`) authoritatively don't exist.
 * `fault`: no usable answer, which is always temporary.
 */
export type DnsAnswer<Type extends DnsType> =
  | {
      readonly kind: 'found';
      readonly records: readonly DnsData[Type][];
      /** Time to live of the answer, in seconds. */
      readonly ttl: number;
      readonly server: string;
    }
  | {
      readonly kind: 'absent';
      readonly what: 'name' | 'records';
      readonly ttl: number;
      readonly server: string;
    }
  | { readonly kind: 'fault'; readonly text: string; readonly server: string };

/** Looks up DNS records. Never throws; failures are returned as `fault`. */
export interface Dns {
  lookUp<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>>;
}

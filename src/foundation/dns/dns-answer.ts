/** Kinds of records that the service asks for. */
export type DnsType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR' | 'TXT';

/** What each kind of record says. */
export interface DnsData {
  readonly A: string;
  readonly AAAA: string;
  readonly CNAME: string;
  readonly MX: { readonly preference: number; readonly exchange: string };
  readonly PTR: string;
  /** The strings of one record, joined (RFC 7208 section 3.3, RFC 6376 section 3.6.2.2). */
  readonly TXT: string;
}

/**
 * What a resolver said. `absent` is a word of the domain's owner, by way of the resolver: the name (`name`) or records of
 * that kind (`records`) do not exist. `fault` is the lack of a word, and always temporary.
 */
export type DnsAnswer<Type extends DnsType> =
  | {
      readonly kind: 'found';
      readonly records: readonly DnsData[Type][];
      /** Seconds for which the answer holds. */
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

/** Asks the domain name system. Never throws: what goes wrong is an answer. */
export interface Dns {
  lookUp<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>>;
}

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { type Answer, type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../values/clock.ts';
import { type DnsServer, formatDnsServer } from './dns-server.ts';

const recursionDesired = 0x0100;
/** A UDP size that avoids fragmentation nearly everywhere (RFC 9715 section 3.1). */
const datagramSize = 1_232;
const maxMessageBytes = 65_535;

/**
 * Sends one query to one resolver: over UDP from a fresh port (RFC 5452 section 9.2), then over TCP if the answer was truncated
 * (RFC 7766 section 5).
 * @throws Error if no matching answer arrives in time
 */
async function queryDnsServer(
  server: DnsServer,
  name: string,
  type: DnsType,
  timeoutMs: number,
): Promise<DecodedPacket> {
  const question: Packet = {
    type: 'query',
    id: randomInt(65_536),
    flags: recursionDesired,
    questions: [{ type, name, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: datagramSize,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  };
  const query = encode(question);
  const signal = AbortSignal.timeout(timeoutMs);
  const isAnswer = (packet: DecodedPacket): boolean =>
    matchesQuestion(packet, question, name, type);
  const packet = await queryByUdp(server, query, isAnswer, signal);
  return packet.flag_tc ? await queryByTcp(server, query, isAnswer, signal) : packet;
}

type IsAnswer = (packet: DecodedPacket) => boolean;

function matchesQuestion(
  packet: DecodedPacket,
  question: Packet,
  name: string,
  type: DnsType,
): boolean {
  const [echoed] = packet.questions ?? [];
  return (
    packet.type === 'response' &&
    packet.id === question.id &&
    (echoed === undefined || (echoed.type === type && sameName(echoed.name, name)))
  );
}

/** Names are case-insensitive (RFC 4343). */
function sameName(one: string, other: string): boolean {
  const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '');
  return plain(one) === plain(other);
}

function decodePacket(bytes: Buffer): DecodedPacket | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

function queryByUdp(
  server: DnsServer,
  query: Buffer,
  isAnswer: IsAnswer,
  signal: AbortSignal,
): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    const end = (finish: () => void): void => {
      signal.removeEventListener('abort', giveUp);
      socket.removeAllListeners('error').on('error', () => undefined);
      socket.close();
      finish();
    };
    const giveUp = (): void => end(() => reject(new Error('no answer in time')));
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('error', (error) => end(() => reject(error)));
    // A connected socket only receives datagrams from this server, and gets an error if the port is closed.
    socket.on('message', (bytes) => {
      const packet = decodePacket(bytes);
      if (packet !== undefined && isAnswer(packet)) end(() => resolve(packet));
    });
    // As a callback, it would get the error of a server without a route.
    socket.once('connect', () => socket.send(query));
    socket.connect(server.port, server.address);
  });
}

function queryByTcp(
  server: DnsServer,
  query: Buffer,
  isAnswer: IsAnswer,
  signal: AbortSignal,
): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port, signal });
    let received = Buffer.alloc(0);
    const fail = (text: string): void => {
      socket.destroy();
      reject(new Error(text));
    };
    socket.once('error', (error) =>
      fail(error.name === 'AbortError' ? 'no answer in time' : error.message),
    );
    socket.once('close', () => reject(new Error('the resolver closed the connection')));
    socket.once('connect', () => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(query.length);
      socket.write(Buffer.concat([length, query]));
    });
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length > maxMessageBytes + 2) return fail('the answer is too long');
      if (received.length < 2 || received.length < 2 + received.readUInt16BE()) return;
      const packet = decodePacket(received.subarray(2, 2 + received.readUInt16BE()));
      if (packet === undefined || !isAnswer(packet))
        return fail('the answer doesn’t match the query');
      socket.destroy();
      resolve(packet);
    });
  });
}

/** Record types the service looks up. */
export type DnsType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'PTR' | 'TXT';

/** The data of each record type. */
interface DnsData {
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

/** Max time to live, one day. */
const maxTtlSeconds = 86_400;
/** Failures are cached briefly, so a queue full of a failing domain doesn't trigger a query per message. */
const faultTtlSeconds = 5;

/** Caches answers for their time to live and coalesces concurrent identical queries. */
export class DnsCache implements Dns {
  readonly #dns: Dns;
  readonly #answers: LRUCache<string, DnsAnswer<DnsType>>;
  readonly #pending = new Map<string, Promise<DnsAnswer<DnsType>>>();

  constructor(dns: Dns, clock: Clock, maxEntries = 20_000) {
    this.#dns = dns;
    this.#answers = new LRUCache({ max: maxEntries, ttlResolution: 0, perf: clock });
  }

  async lookUp<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    const key = `${type} ${name.toLowerCase()}`;
    const cached = this.#answers.get(key);
    if (cached !== undefined) return cached as DnsAnswer<Type>;
    const answer = await (this.#pending.get(key) ?? this.#query(key, name, type));
    return answer as DnsAnswer<Type>;
  }

  #query(key: string, name: string, type: DnsType): Promise<DnsAnswer<DnsType>> {
    const pending = this.#dns
      .lookUp(name, type)
      .then((answer) => {
        this.#store(key, answer);
        return answer;
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, pending);
    return pending;
  }

  #store(key: string, answer: DnsAnswer<DnsType>): void {
    const seconds = answer.kind === 'fault' ? faultTtlSeconds : Math.min(answer.ttl, maxTtlSeconds);
    if (seconds > 0) this.#answers.set(key, answer, { ttl: seconds * 1_000 });
    else this.#answers.delete(key);
  }
}

interface DnsClientOptions {
  /** Timeout of a single query. */
  readonly timeoutMs?: number;
  /** Rounds through all servers before giving up. */
  readonly rounds?: number;
}

/** RFC 2308 section 5: max time to cache a negative answer. */
const maxNegativeTtl = 3_600;
/** RFC 1035 section 2.3.4. A longer label would be read as a compression pointer. */
const maxNameLength = 253;
const maxLabelBytes = 63;

/** Queries the resolvers in order until one gives a usable answer. Caches nothing. */
export class DnsClient implements Dns {
  readonly #servers: readonly DnsServer[];
  readonly #timeoutMs: number;
  readonly #rounds: number;

  constructor(servers: readonly DnsServer[], options: DnsClientOptions = {}) {
    this.#servers = servers;
    this.#timeoutMs = options.timeoutMs ?? 3_000;
    this.#rounds = options.rounds ?? 2;
  }

  async lookUp<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    let fault: DnsAnswer<Type> = { kind: 'fault', text: 'no DNS server configured', server: '' };
    if (!isName(name)) return { kind: 'fault', text: 'not a domain name', server: '' };
    for (let round = 0; round < this.#rounds; round += 1) {
      for (const server of this.#servers) {
        const answer = await this.#query(server, name, type);
        if (answer.kind !== 'fault') return answer;
        fault = answer;
      }
    }
    return fault;
  }

  async #query<Type extends DnsType>(
    server: DnsServer,
    name: string,
    type: Type,
  ): Promise<DnsAnswer<Type>> {
    const serverName = formatDnsServer(server);
    try {
      return readPacket(
        await queryDnsServer(server, name, type, this.#timeoutMs),
        type,
        serverName,
      );
    } catch (error) {
      return {
        kind: 'fault',
        text: error instanceof Error ? error.message : '',
        server: serverName,
      };
    }
  }
}

function isName(name: string): boolean {
  const labels = name.replace(/\.$/, '').split('.');
  const fits = (label: string): boolean =>
    label !== '' && Buffer.byteLength(label) <= maxLabelBytes;
  return name.length <= maxNameLength && labels.every(fits);
}

function readPacket<Type extends DnsType>(
  packet: DecodedPacket,
  type: Type,
  server: string,
): DnsAnswer<Type> {
  const rcode = rcodeOf(packet);
  if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') {
    return { kind: 'fault', text: rcode, server };
  }
  const answers = packet.answers ?? [];
  // The answer includes any CNAMEs on the way, so the lowest time to live of all records applies.
  const records = answers.flatMap((answer) => readRecord(answer, type));
  if (records.length === 0) {
    const what = rcode === 'NXDOMAIN' ? 'name' : 'records';
    return { kind: 'absent', what, ttl: negativeTtl(packet), server };
  }
  const ttl = Math.min(...answers.map((answer) => ('ttl' in answer ? (answer.ttl ?? 0) : 0)));
  return { kind: 'found', records, ttl, server };
}

function rcodeOf(packet: DecodedPacket): string {
  return 'rcode' in packet && typeof packet.rcode === 'string' ? packet.rcode : 'NOERROR';
}

/** RFC 2308 section 5: the minimum of the SOA record's time to live and its MINIMUM field. */
function negativeTtl(packet: DecodedPacket): number {
  for (const authority of packet.authorities ?? []) {
    if (authority.type !== 'SOA') continue;
    const { minimum = 0 } = authority.data;
    return Math.min(authority.ttl ?? 0, minimum, maxNegativeTtl);
  }
  return 0;
}

function readRecord<Type extends DnsType>(answer: Answer, type: Type): DnsData[Type][] {
  if (answer.type !== type) return [];
  return [readData(answer) as DnsData[Type]];
}

function readData(answer: Answer): DnsData[DnsType] | undefined {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
      return answer.data;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return replaceControls(answer.data).toLowerCase();
    case 'MX':
      return {
        preference: answer.data.preference ?? 0,
        exchange: replaceControls(answer.data.exchange).toLowerCase().replace(/\.$/, ''),
      };
    case 'TXT':
      return replaceControls([answer.data].flat().map(String).join(''));
    default:
      return undefined;
  }
}

/** Records can contain arbitrary bytes (RFC 2181 section 11), but only valid text can be stored. */
function replaceControls(text: string): string {
  return text.replace(/\p{Cc}/gu, '\ufffd');
}

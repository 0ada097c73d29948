import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import type { DnsType } from './dns-client.ts';
import type { DnsServer } from './dns-server.ts';

const recursionDesired = 0x0100;
/** A UDP size that avoids fragmentation nearly everywhere (RFC 9715 section 3.1). */
const datagramSize = 1_232;
const maxMessageBytes = 65_535;

/**
 * Sends one query to one resolver: over UDP from a fresh port (RFC 5452 section 9.2), then over TCP if the answer was truncated
 * (RFC 7766 section 5).
 * @throws Error if no matching answer arrives in time
 */
export async function queryDnsServer(
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
    socket.on('data', (chunk) => {
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

import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { after } from 'node:test';
import { type Answer, decode, encode, type Packet, streamEncode } from 'dns-packet';

/** Records of a name, as in a zone file, or how the server misbehaves for that name. */
export interface TestZone {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
  readonly CNAME?: string;
  readonly MX?: readonly (readonly [preference: number, exchange: string])[];
  readonly TXT?: readonly string[];
  readonly NS?: readonly string[];
  readonly PTR?: string;
  readonly ttl?: number;
  /** `silent` never answers, `garbage` answers nonsense, `servfail` and `refused` return that code. */
  readonly fault?: 'silent' | 'garbage' | 'servfail' | 'refused';
}

const authoritativeAnswer = 0x0400;
const truncated = 0x0200;
const rcodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const maxUdpBytes = 1_200;

/** A test name server on the loopback, over UDP and TCP. Names without a zone don't exist. */
export class TestDns {
  readonly zones = new Map<string, TestZone>();
  /** All questions so far, as `TYPE name`. */
  readonly queries: string[] = [];
  #port = 0;

  /** `127.0.0.1:port`. */
  get server(): string {
    return `127.0.0.1:${this.#port}`;
  }

  set(name: string, zone: TestZone): this {
    this.zones.set(name.toLowerCase(), zone);
    return this;
  }

  delete(name: string): void {
    this.zones.delete(name.toLowerCase());
  }

  async start(): Promise<this> {
    const datagrams = createSocket('udp4');
    datagrams.on('message', (bytes, peer) => {
      const answer = this.#answer(bytes);
      if (answer === undefined) return;
      const whole = encode(answer);
      const fits = whole.length <= maxUdpBytes;
      const cut: Packet = { ...answer, flags: (answer.flags ?? 0) | truncated, answers: [] };
      datagrams.send(fits ? whole : encode(cut), peer.port, peer.address);
    });
    const streams = await this.#listen(datagrams);
    this.#port = (streams.address() as { port: number }).port;
    after(() => {
      datagrams.close();
      streams.close();
    });
    return this;
  }

  /** Binds both to one port; if a port that is free for TCP is taken for UDP, tries another one. */
  async #listen(datagrams: Socket): Promise<Server> {
    for (;;) {
      const streams = await this.#listenForStreams();
      const { port } = streams.address() as { port: number };
      const bound = new Promise<boolean>((resolve, reject) => {
        datagrams.once('listening', () => resolve(true));
        datagrams.once('error', (error: NodeJS.ErrnoException) =>
          error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
        );
      });
      datagrams.bind(port, '127.0.0.1');
      if (await bound) return streams;
      streams.close();
      datagrams.removeAllListeners('listening');
    }
  }

  async #listenForStreams(): Promise<Server> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes: Buffer) => {
        const answer = this.#answer(bytes.subarray(2));
        if (answer !== undefined) socket.end(streamEncode(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  #answer(bytes: Buffer): Packet | undefined {
    const query = decode(bytes);
    const [question] = query.questions ?? [];
    if (question === undefined) return undefined;
    this.queries.push(`${question.type} ${question.name}`);
    const zone = this.zones.get(question.name.toLowerCase());
    if (zone?.fault === 'silent') return undefined;
    const answers = zone === undefined ? [] : this.#records(question.name, question.type);
    const rcode =
      zone === undefined
        ? rcodes.NXDOMAIN
        : zone.fault === 'servfail'
          ? rcodes.SERVFAIL
          : zone.fault === 'refused'
            ? rcodes.REFUSED
            : rcodes.NOERROR;
    return {
      type: 'response',
      id: zone?.fault === 'garbage' ? 0 : (query.id ?? 0),
      flags: authoritativeAnswer | rcode,
      questions: [question],
      answers: zone?.fault === undefined ? answers : [],
      authorities: [
        {
          type: 'SOA',
          name: 'test',
          ttl: 60,
          data: { mname: 'ns.test', rname: 'root.test', serial: 1, minimum: 60 },
        },
      ],
    };
  }

  #records(name: string, type: string): Answer[] {
    const zone = this.zones.get(name.toLowerCase());
    if (zone === undefined) return [];
    const { ttl = 300 } = zone;
    if (zone.CNAME !== undefined) {
      const alias: Answer = { type: 'CNAME', name, ttl, data: zone.CNAME };
      return type === 'CNAME' ? [alias] : [alias, ...this.#records(zone.CNAME, type)];
    }
    switch (type) {
      case 'A':
        return (zone.A ?? []).map((data) => ({ type: 'A', name, ttl, data }));
      case 'AAAA':
        return (zone.AAAA ?? []).map((data) => ({ type: 'AAAA', name, ttl, data }));
      case 'MX':
        return (zone.MX ?? []).map(([preference, exchange]) => ({
          type: 'MX',
          name,
          ttl,
          data: { preference, exchange },
        }));
      case 'TXT':
        return (zone.TXT ?? []).map((text) => ({
          type: 'TXT',
          name,
          ttl,
          data: text.match(/.{1,255}/gs) ?? [''],
        }));
      case 'NS':
        return (zone.NS ?? []).map((data) => ({ type: 'NS', name, ttl, data }));
      case 'PTR':
        return zone.PTR === undefined ? [] : [{ type: 'PTR', name, ttl, data: zone.PTR }];
      default:
        return [];
    }
  }
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after } from 'node:test';

/** A proxy between a service and its database, so that a test can cut the connections. */
export interface TcpGate {
  /** The database's URL through the gate. */
  readonly url: string;
  /** Breaks every connection and refuses new ones. */
  close(): void;
  open(): void;
  /**
   * For connections with this application name: forwards what the client sends, and breaks the connection at the server's
   * next response.
   */
  cutAnswers(applicationName: string): void;
  /**
   * Keeps connections open but forwards nothing in either direction; `open` then breaks them.
   * @param applicationNames only of connections with one of them
   */
  hold(...applicationNames: readonly string[]): void;
  /** Like `hold`, but as in a network that comes back: `open` then forwards what was sent meanwhile. */
  freeze(): void;
  /** How often a client was refused a connection or sent something that wasn't forwarded. */
  readonly blockedCount: number;
}

/** A gate that its owner must stop. */
export interface StartedGate extends TcpGate {
  stop(): void;
}

type Mode = 'open' | 'closed' | 'cutting' | 'holding' | 'frozen';

interface Passage {
  readonly client: Socket;
  readonly server: Socket;
  /** The client's first messages. The last one contains its application name; before, it may ask for encryption. */
  hello: string;
}

/** Opens a gate to the server of a database URL, which closes at the end of the file. */
export async function openGate(databaseUrl: string): Promise<TcpGate> {
  const gate = await startGate(databaseUrl);
  after(() => gate.stop());
  return gate;
}

/** Opens a gate to the server of a URL: a database, or anything else that listens on a port. */
export async function startGate(serverUrl: string): Promise<StartedGate> {
  const target = new URL(serverUrl);
  const passages = new Set<Passage>();
  let mode: Mode = 'open';
  let cutName = '';
  let heldNames: readonly string[] = [];
  let blockedCount = 0;
  const isHeld = ({ hello }: Passage): boolean =>
    mode === 'holding' &&
    (heldNames.length === 0 || heldNames.some((name) => hello.includes(`\0${name}\0`)));
  const end = (passage: Passage): void => {
    passages.delete(passage);
    passage.client.destroy();
    passage.server.destroy();
  };
  const gate = createServer((client) => {
    if (mode === 'closed') {
      blockedCount += 1;
      client.destroy();
      return;
    }
    const server = connectTo(target);
    const passage: Passage = { client, server, hello: '' };
    passages.add(passage);
    if (mode === 'frozen') setFrozen(passage, true);
    client.on('data', (chunk) => {
      if (!isComplete(passage.hello)) passage.hello += chunk.toString('latin1');
      if (isHeld(passage)) blockedCount += 1;
      else server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (mode === 'cutting' && passage.hello.includes(`\0${cutName}\0`)) end(passage);
      else if (!isHeld(passage)) client.write(chunk);
    });
    for (const socket of [client, server])
      socket.on('close', () => end(passage)).on('error', () => end(passage));
  });
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  const dropAll = (): void => {
    for (const passage of passages) end(passage);
  };
  const url = new URL(serverUrl);
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((gate.address() as AddressInfo).port);
  return {
    url: url.href,
    get blockedCount() {
      return blockedCount;
    },
    close() {
      mode = 'closed';
      dropAll();
    },
    open() {
      for (const passage of passages) if (isHeld(passage)) end(passage);
      if (mode === 'frozen') for (const passage of passages) setFrozen(passage, false);
      mode = 'open';
    },
    cutAnswers(applicationName) {
      cutName = applicationName;
      mode = 'cutting';
    },
    hold(...applicationNames) {
      heldNames = applicationNames;
      mode = 'holding';
    },
    freeze() {
      mode = 'frozen';
      for (const passage of passages) setFrozen(passage, true);
    },
    stop() {
      dropAll();
      gate.close();
    },
  };
}

/** What arrives waits in the sockets, whose ends aren't noticed either. */
function setFrozen({ client, server }: Passage, isFrozen: boolean): void {
  for (const socket of [client, server]) {
    if (isFrozen) socket.pause();
    else socket.resume();
  }
}

/** Other protocols never name a user like this, so it is bounded. */
function isComplete(hello: string): boolean {
  return hello.includes('user\0') || hello.length > 1_000;
}

/** A `host` parameter names the folder of a Unix socket. */
function connectTo(target: URL): Socket {
  const folder = target.searchParams.get('host');
  const port = target.port === '' ? 5432 : Number(target.port);
  return folder?.startsWith('/')
    ? connect(`${folder}/.s.PGSQL.${port}`)
    : connect({ host: target.hostname, port });
}

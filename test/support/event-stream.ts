import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after } from 'node:test';
import { waitFor } from './wait-for.ts';

export interface StreamedEvent {
  /** Empty if it has none. */
  readonly id: string;
  readonly data: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

/** A client of server-sent events that can be slow, and stop in the middle. */
export class EventStream {
  readonly events: StreamedEvent[] = [];
  response: IncomingMessage | undefined;
  /** Of a response that isn't a stream. */
  text = '';
  ended = false;
  readonly #request: ClientRequest;

  private constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#request = request(url, { headers: { accept: 'text/event-stream', ...headers } });
    this.#request.on('error', () => {
      this.ended = true;
    });
    this.#request.on('response', (response) => {
      this.response = response;
      response.on('error', () => undefined);
      response.on('close', () => {
        this.ended = true;
      });
      response.on('data', (chunk: Buffer) => this.#add(chunk.toString()));
    });
    this.#request.end();
    after(() => this.close());
  }

  /** Resolves once the response has begun. */
  static async open(
    url: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EventStream> {
    const stream = new EventStream(url, headers);
    await waitFor('the answer', () => stream.response !== undefined || stream.ended);
    return stream;
  }

  close(): void {
    this.#request.destroy();
  }

  #add(text: string): void {
    this.text += text;
    const blocks = this.text.split('\n\n');
    if (this.response?.statusCode !== 200) return;
    this.text = blocks.pop() ?? '';
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1] ?? '';
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) this.events.push({ id, data: JSON.parse(data) });
    }
  }
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { waitFor } from './wait-for.ts';

interface ReceivedWebhook {
  readonly text: string;
  readonly body: { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
}

/** An endpoint that accepts every webhook. It stops at the end of the file. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  readonly url: string;

  private constructor(url: string) {
    this.url = url;
  }

  static async open(): Promise<WebhookReceiver> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      receiver.received.push({ text, body: JSON.parse(text) });
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const receiver = new WebhookReceiver(`http://127.0.0.1:${port}/hook`);
    return receiver;
  }

  /** Waits for the webhook of an event. */
  waitFor(eventId: string): Promise<ReceivedWebhook> {
    return waitFor(`the webhook of ${eventId}`, () =>
      this.received.find(({ body }) => body.data.eventId === eventId),
    );
  }
}

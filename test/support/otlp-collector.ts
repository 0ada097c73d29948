import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** A span as the collector received it, in the terms of the OTLP definitions. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly links: readonly { traceId: string; spanId: string; traceState: string }[];
  /** `STATUS_CODE_ERROR` if it failed. */
  readonly status: string;
  readonly resource: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

/** An export request. */
interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const folder = join(import.meta.dirname, 'opentelemetry-proto');
const root = new protobuf.Root();
root.resolvePath = (_origin, target) => join(folder, target);
root.loadSync(['opentelemetry/proto/collector/trace/v1/trace_service.proto']);
const traceRequest = root.lookupType(
  'opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest',
);

/** A receiver of OTLP over HTTP that decodes with the official definitions. */
export class OtlpCollector {
  readonly received: Received[] = [];
  /** How it responds; by default 200 with an empty response message. */
  answer: (response: ServerResponse) => void = (response) => {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  };
  port = 0;
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { url: path = '', headers } = request;
    const body = Buffer.concat(chunks);
    this.received.push({
      path,
      headers,
      body: headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body,
    });
    this.answer(response);
  });

  static async open(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    collector.port = (collector.#server.address() as AddressInfo).port;
    after(() => {
      collector.#server.close();
      collector.#server.closeAllConnections();
    });
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** All spans received so far. */
  get spans(): ReceivedSpan[] {
    return this.received
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => spansOf(decode(traceRequest, body)));
  }

  /** Everything received, as text that contains each string of it. */
  get text(): string {
    return this.received.map(({ body }) => body.toString('latin1')).join('\n');
  }
}

/** Verifies nothing itself: `decode` throws for a body that isn't the message. */
function decode(type: protobuf.Type, body: Buffer): Record<string, unknown> {
  return type.toObject(type.decode(body), { enums: String, longs: String, defaults: true });
}

// biome-ignore lint/suspicious/noExplicitAny: the shapes are those of the definitions
type Decoded = any;

function spansOf(request: Decoded): ReceivedSpan[] {
  return request.resourceSpans.flatMap(({ resource, scopeSpans }: Decoded) =>
    scopeSpans.flatMap(({ spans }: Decoded) =>
      spans.map((span: Decoded) => ({
        ...span,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        attributes: attributesOf(span.attributes),
        links: span.links.map((link: Decoded) => ({
          traceId: hex(link.traceId),
          spanId: hex(link.spanId),
          traceState: link.traceState,
        })),
        status: span.status?.code ?? 'STATUS_CODE_UNSET',
        resource: attributesOf(resource.attributes),
      })),
    ),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function attributesOf(attributes: Decoded): Attributes {
  return Object.fromEntries(attributes.map(({ key, value }: Decoded) => [key, readValue(value)]));
}

function readValue({
  arrayValue,
  kvlistValue,
  stringValue,
  intValue,
  ...others
}: Decoded): unknown {
  if (arrayValue) return arrayValue.values.map(readValue);
  if (kvlistValue) return attributesOf(kvlistValue.values);
  if (stringValue) return stringValue;
  if (intValue && intValue !== '0') return Number(intValue);
  return others.boolValue || others.doubleValue || stringValue || Number(intValue);
}

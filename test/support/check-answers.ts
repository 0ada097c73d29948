import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { findDisagreement } from './conform.ts';

/** Longer responses aren't kept. */
const maxBytes = 1024 * 1024;

const disagreements = new Set<string>();

/**
 * Compares every response of a service with the OpenAPI document if TEST_ANSWERS is set, whoever asked; at the end, the
 * file fails if one disagrees.
 */
export function checkAnswers(server: Server): void {
  if (process.env.TEST_ANSWERS === undefined) return;
  registerReport();
  server.prependListener('request', watch);
}

let isRegistered = false;

function registerReport(): void {
  if (isRegistered) return;
  isRegistered = true;
  // Not a hook of the test runner: one that fails keeps later ones from stopping services.
  process.once('exit', () => {
    if (disagreements.size === 0) return;
    process.stderr.write(
      `answers that the OpenAPI document doesn’t describe:\n${[...disagreements].join('\n')}\n`,
    );
    process.exitCode = 1;
  });
}

function watch(request: IncomingMessage, response: ServerResponse): void {
  const { method = '', url = '' } = request;
  const { host, expect } = request.headers;
  // Refused before anything knows the route.
  if (host === undefined || expect !== undefined) return;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const keep = (chunk: unknown): void => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(Buffer.from(chunk as string));
  };
  const write = response.write.bind(response) as (...values: unknown[]) => boolean;
  const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
  response.write = ((...values: unknown[]) => {
    keep(values[0]);
    return write(...values);
  }) as typeof response.write;
  response.end = ((...values: unknown[]) => {
    keep(values[0]);
    return end(...values);
  }) as typeof response.end;
  let contentType: string | undefined;
  const writeHead = response.writeHead.bind(response) as (...values: unknown[]) => ServerResponse;
  response.writeHead = ((...values: unknown[]) => {
    const [, given] = values;
    // The send operation passes a list that getHeader doesn't know.
    if (Array.isArray(given)) contentType = given[given.indexOf('content-type') + 1] as string;
    return writeHead(...values);
  }) as typeof response.writeHead;
  response.once('finish', () => {
    if (bytes > maxBytes) return;
    contentType ??= response.getHeader('content-type')?.toString();
    const text = Buffer.concat(chunks).toString('utf8');
    const target = url;
    const status = response.statusCode;
    const found = findDisagreement({ method, target, status, contentType, text });
    if (found !== undefined) disagreements.add(found);
  });
}

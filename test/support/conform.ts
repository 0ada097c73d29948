import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stripBaseSlash } from '../../src/host/http/request-path.ts';
import { openapiDocument } from '../../src/operating/management/openapi/openapi-document.ts';
import type { TextResponse } from './send-request.ts';

type Json = Readonly<Record<string, unknown>>;

/** The service's response to a request. */
export interface ObservedAnswer {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

interface DocumentedPath {
  readonly path: string;
  readonly pattern: RegExp;
  readonly operations: Json;
}

/** RFC 9110 section 15.5.20. */
const misdirected = 421;

/** Loaded on first use: most test processes check no response. */
let loaded: { readonly ajv: Ajv2020; readonly paths: readonly DocumentedPath[] } | undefined;

function load(): NonNullable<typeof loaded> {
  const document = openapiDocument('0') as Json;
  const ajv = new Ajv2020({
    strict: false,
    formats: { date: true, 'date-time': true, uuid: true },
  });
  ajv.addSchema({ $id: 'document', ...document });
  const paths = Object.entries(document.paths as Record<string, Json>)
    .map(([path, operations]) => ({
      path,
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
      operations,
    }))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  return { ajv, paths };
}

/**
 * Compares a response with the OpenAPI document; ignores paths and methods that it doesn't have.
 * @returns what disagrees
 */
export function findDisagreement(answer: ObservedAnswer): string | undefined {
  loaded ??= load();
  const { ajv, paths } = loaded;
  const { status, text } = answer;
  const [pathname = ''] = stripBaseSlash(answer.target).split('?');
  const found = paths.find(({ pattern }) => pattern.test(pathname));
  const method = answer.method.toLowerCase();
  const operation = found?.operations[method] as Json | undefined;
  if (found === undefined || operation === undefined) return undefined;
  // From a node that has no API; the document describes those that have one.
  if (status === misdirected) return undefined;
  const where = `${answer.method} ${found.path} ${status}`;
  const responses = operation.responses as Record<string, Json>;
  const response = responses[status];
  if (response === undefined) return `${where} is not in the document: ${text.slice(0, 500)}`;
  const shared = response.$ref === '#/components/responses/Problem';
  const mediaType = answer.contentType?.split(';')[0];
  if (mediaType === undefined || text === '') return undefined;
  const content = shared
    ? { 'application/problem+json': {} }
    : (response.content as Json | undefined);
  if (content?.[mediaType] === undefined)
    return content === undefined && !mediaType.includes('json')
      ? undefined
      : `${where} has ${mediaType}, which is not in the document: ${text.slice(0, 500)}`;
  if (!/^application\/(?:.*\+)?json$/.test(mediaType)) return undefined;
  const step = shared
    ? '/components/responses/Problem'
    : `/paths/${escapePointer(found.path)}/${method}/responses/${status}`;
  const pointer = `document#${encodeURI(`${step}/content/${escapePointer(mediaType)}/schema`)}`;
  const check = ajv.getSchema(pointer);
  if (check === undefined) return `${where} has no schema at ${pointer}`;
  if (check(JSON.parse(text)) === true) return undefined;
  return `${where}: ${ajv.errorsText(check.errors)} in ${text.slice(0, 500)}`;
}

function escapePointer(text: string): string {
  return text.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Requires that a response is as the OpenAPI document describes it. */
export function requireConformity(method: string, address: string, response: TextResponse): void {
  const { pathname } = new URL(address);
  const { status, text } = response;
  const contentType = response.headers.get('content-type') ?? undefined;
  const disagreement = findDisagreement({ method, target: pathname, status, contentType, text });
  assert.equal(disagreement, undefined);
}

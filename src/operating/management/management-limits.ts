import {
  gibibyte,
  kibibyte,
  mebibyte,
  type RouteLimit,
} from '../../host/http/limits/route-limits.ts';
import type { ManagementRoute } from './resource-routes.ts';
import { routeTable } from './route-table.ts';

/** Path prefix of the management API. */
export const managementPrefix = '/manage/v1';

/** The limits of most request bodies. */
const defaultBody = { bodyBytes: 64 * kibibyte, bodySeconds: 15, bodyValues: 2_000 };

/** A template's sources, and its images in base64. */
const content = { bodyBytes: 7 * mebibyte, bodySeconds: 30, bodyValues: 10_000 };

/** Template field values, contact fields or sender names. */
const values = { bodyBytes: 1 * mebibyte, bodySeconds: 30, bodyValues: 2_000 };

/** For routes without a body; some clients send `{}` anyway. */
const empty = { bodyBytes: 1 * kibibyte, bodySeconds: 10 };

/** For unauthenticated callers. */
const anonymousBody = { bodyBytes: 4 * kibibyte, bodySeconds: 10, bodyValues: 20 };

/** CSV files are streamed to disk. */
const file = { bodyBytes: 1 * gibibyte, bodySeconds: 900, streamed: true };

const none = { bodyBytes: 0, bodySeconds: 0 };

/** The limits of a route of the management API. */
export function routeLimitOf(route: ManagementRoute): RouteLimit {
  const { method, path, access } = route;
  return {
    methods: [method],
    path: `${managementPrefix}${path}`,
    caller: describeCaller(access),
    known: access !== 'public',
    ...bodyOf(route),
  };
}

function bodyOf({ method, access, operation, size }: ManagementRoute) {
  if (method === 'GET') return none;
  if (operation.accepts !== undefined) return file;
  if (access === 'public') return anonymousBody;
  if (operation.body === undefined) return empty;
  if (size === 'content') return content;
  return size === 'values' ? values : defaultBody;
}

function describeCaller(access: ManagementRoute['access']): string {
  if (access === 'public') return 'anyone';
  if (access === 'signed-in') return 'anyone signed in';
  if (access === 'inbox') return 'an inbox reader';
  return access === 'operate' ? 'operators' : `\`${access}\``;
}

/** The limits of every route of the management API. */
export const managementLimits: readonly RouteLimit[] = routeTable.map(routeLimitOf);

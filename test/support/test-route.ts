import type { RouteLimit } from '../../src/host/http/limits/route-limits.ts';

/** A line of the limits table for a route that exists only in a test. */
export function testRoute(
  methods: string,
  path: string,
  more: Partial<RouteLimit> = {},
): RouteLimit {
  return {
    methods: methods.split(' '),
    path,
    caller: 'anyone',
    known: false,
    bodyBytes: 64 * 1024,
    bodySeconds: 10,
    ...more,
  };
}

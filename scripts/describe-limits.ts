import { type AccountLimit, accountLimits } from '../src/account/account-limits.ts';
import { defaultByteBudgets } from '../src/http/limits/bytes-in-flight.ts';
import { formatBytes, type RouteLimit } from '../src/http/limits/route-limit.ts';
import { routeLimits } from '../src/http/limits/route-limits.ts';
import { managementLimits } from '../src/management/management-limits.ts';

/** The tables of docs/reference/limits.md: what an account can have, request limits per route, and memory limits for bodies. */
export function describeLimits(): Readonly<Record<'accounts' | 'budgets' | 'routes', string>> {
  const { known, unknown } = defaultByteBudgets;
  const budgets = [
    '| bodies in memory | per IP address | total |',
    '| --- | --- | --- |',
    `| of callers known before their body is read | ${formatBytes(known.perPeer)} | ${formatBytes(known.total)} |`,
    `| of strangers | ${formatBytes(unknown.perPeer)} | ${formatBytes(unknown.total)} |`,
  ];
  const routes = [
    '| route | caller | body | arrives within | values |',
    '| --- | --- | --- | --- | --- |',
    ...[...routeLimits, ...managementLimits].map(toRow),
  ];
  const limits: readonly AccountLimit[] = Object.values(accountLimits);
  const accounts = [
    '| what | at most |',
    '| --- | --- |',
    ...limits.map(
      ({ what, max, per }) =>
        `| ${what}${per === undefined ? '' : ` of a ${per.what}`} | ${max.toLocaleString('en')} |`,
    ),
  ];
  return {
    accounts: accounts.join('\n'),
    budgets: budgets.join('\n'),
    routes: routes.join('\n'),
  };
}

function toRow({ methods, path, caller, ...limit }: RouteLimit): string {
  const { bodyBytes, bodySeconds, bodyValues, bodyItems, extraBytes, streamed } = limit;
  const body =
    bodyBytes === 0
      ? ['none', '', '']
      : [
          `${formatBytes(bodyBytes)}${streamed ? ', to disk' : ''}${extraBytes === undefined ? '' : `, ${extraBytes}`}`,
          `${bodySeconds} s`,
          bodyItems === undefined ? String(bodyValues ?? '') : `${bodyItems} items`,
        ];
  return `| ${[`${methods.join(', ')} \`${path}\``, caller, ...body].join(' | ')} |`;
}

import { type AccountLimit, accountLimits } from '../src/accounts/account/account-limits.ts';
import { policies, type SharedResource } from '../src/base/fairness/policies.ts';
import { dropInLimits } from '../src/drop-in/drop-ins.ts';
import { formatBytes, type RouteLimit, routeLimits } from '../src/host/http/limits/route-limits.ts';
import { managementLimits } from '../src/operating/management/management-limits.ts';

/** The tables of docs/reference/limits.md: what an account can have, what accounts and networks share, and request limits per route. */
export function describeLimits(): Readonly<Record<'accounts' | 'shared' | 'routes', string>> {
  const shared = [
    '| resource | shared by | total | share | reserve | waits | when full |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...Object.entries(policies).map(([name, policy]) => describePolicy(name, policy)),
  ];
  const routes = [
    '| route | caller | body | arrives within | values |',
    '| --- | --- | --- | --- | --- |',
    ...[...routeLimits, ...dropInLimits, ...managementLimits].map(toRow),
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
  return { accounts: accounts.join('\n'), shared: shared.join('\n'), routes: routes.join('\n') };
}

function describePolicy(name: string, policy: SharedResource): string {
  const { by, unit, total, share, reserve, wait, evict } = policy;
  const amount = (value: number): string =>
    unit === 'bytes' ? formatBytes(value) : value.toLocaleString('en-US');
  const isUnlimited = wait?.ms === Number.POSITIVE_INFINITY;
  const waits =
    wait === undefined ? '' : isUnlimited ? 'until its turn' : `up to ${wait.ms / 1_000} s`;
  const full =
    evict === undefined
      ? 'refused'
      : evict.slowerThan === undefined
        ? 'the slowest ends'
        : `what is slower than ${formatBytes(evict.slowerThan)}/s ends`;
  const title = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `| ${[title, by, amount(total), amount(share), amount(reserve), waits, full].join(' | ')} |`;
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

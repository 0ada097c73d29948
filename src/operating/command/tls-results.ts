import { OperatorError } from '../../base/values/errors.ts';
import { newId } from '../../base/values/ids.ts';
import { type TlsDay, TlsResultStore } from '../../sending/delivery/tls-report/tls-result-store.ts';
import { withRunningInstallation } from './open-running.ts';
import { type CommandShell, type JsonOption, printTable } from './shell.ts';

export interface TlsResultOptions extends JsonOption {
  readonly days: string;
}

const retentionDays = 60;
const maxLines = 10_000;
const dayMs = 86_400_000;

/** `destination tls`: the results by day and domain. @throws OperatorError for an invalid number of days */
export async function listTlsResultsCommand(
  shell: CommandShell,
  domain: string | undefined,
  options: TlsResultOptions,
): Promise<void> {
  const days = Number(options.days);
  if (!Number.isInteger(days) || days < 1 || days > retentionDays)
    throw new OperatorError(`--days must be a whole number from 1 to ${retentionDays}.`);
  const from = new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10);
  return withRunningInstallation(shell, async ({ database }) => {
    const store = new TlsResultStore(database, newId());
    const results = await store.list({ from, domain: domain?.toLowerCase() }, maxLines);
    printTable<TlsDay>(shell, options, results, [
      ['day', ({ day }) => day],
      ['domain', (result) => result.domain],
      ['policy', ({ policyType }) => policyType],
      ['encrypted', ({ success }) => String(success)],
      ['failed', ({ failed }) => String(failed)],
      ['failures', ({ failures }) => describeFailures(failures)],
    ]);
  });
}

function describeFailures(failures: TlsDay['failures']): string {
  return failures
    .map(({ type, host, sessions }) => `${sessions} ${type}${host === '' ? '' : ` (${host})`}`)
    .join(', ');
}

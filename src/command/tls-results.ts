import { type TlsDay, TlsResultStore } from '../delivery/tls-report/tls-result-store.ts';
import { OperatorError } from '../foundation/errors.ts';
import { newId } from '../foundation/ids.ts';
import { withRunningInstallation } from './open-running.ts';

const retentionDays = 60;
const maxLines = 10_000;
const dayMs = 86_400_000;

/** `destination tls`: one line per day and domain. @throws OperatorError for an invalid number of days */
export async function listTlsResultsCommand(
  domain: string | undefined,
  { days: text }: { readonly days: string },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > retentionDays)
    throw new OperatorError(`--days must be a whole number from 1 to ${retentionDays}.`);
  const from = new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10);
  return withRunningInstallation(environment, async ({ database }) => {
    const store = new TlsResultStore(database, newId());
    for (const result of await store.list({ from, domain: domain?.toLowerCase() }, maxLines))
      process.stdout.write(`${describe(result)}\n`);
    return 0;
  });
}

function describe({ day, domain, policyType, success, failed, failures }: TlsDay): string {
  const failureTexts = failures.map(
    ({ type, host, sessions }) => `${sessions} ${type}${host === '' ? '' : ` (${host})`}`,
  );
  const why = failureTexts.length === 0 ? '' : `: ${failureTexts.join(', ')}`;
  return `${day}\t${domain}\t${policyType}\t${success} encrypted\t${failed} failed${why}`;
}

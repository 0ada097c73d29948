import { NumberInput, Progress, SimpleGrid, Text } from '@mantine/core';
import { useMe } from '../account/use-me.ts';
import type { MyAccount, QuotaWindow } from '../api/management.generated.ts';
import { localProblem, reasonFor } from '../api/problem.ts';
import { useGet } from '../api/use-get.ts';
import { Note } from '../components/note.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useForm } from '../form/use-form.ts';
import { formatNumber } from '../format/format-number.ts';
import { lastDays, useReport } from '../report/use-report.ts';
import { text } from '../texts/text.ts';
import { useInstallationAccount } from './use-installation-account.ts';

/** The quota and its usage; operators can change it. */
export function QuotaSettings({ account }: { account: MyAccount }) {
  const { data: me } = useMe();
  const use = useGet('/accounts/{accountId}/quota-use', { refetchInterval: 15_000 });
  const isLimited = account.quota.perHour !== null || account.quota.perDay !== null;
  return (
    <SectionCard
      id="quota"
      title={text('quota.title')}
      hint={isLimited ? text('quota.hint') : <Unlimited />}
    >
      <ProblemAlert error={use.error} retry={() => use.refetch()} />
      {use.data !== undefined && isLimited && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} mb="sm">
          <QuotaUsage name={text('quota.hour')} window={use.data.hour} />
          <QuotaUsage name={text('quota.day')} window={use.data.day} />
        </SimpleGrid>
      )}
      {me?.operator === true && <QuotaForm account={account} />}
    </SectionCard>
  );
}

/** Without a quota, the day's messages are in its report only. */
function Unlimited() {
  const { data } = useReport(lastDays(1).now, 'none');
  return (
    <>
      {text('quota.none')}{' '}
      {data !== undefined && text('quota.today', { count: data.rows[0]?.counts.accepted ?? 0 })}
    </>
  );
}

function QuotaUsage({
  name,
  window: { limit, used, endsAt },
}: {
  name: string;
  window: QuotaWindow;
}) {
  if (limit === null) return null;
  const share = limit === 0 ? 100 : (used / limit) * 100;
  return (
    <div>
      <Text size="sm">
        {text('quota.used', { name, used: formatNumber(used), limit: formatNumber(limit) })}
      </Text>
      <Progress mt={4} value={share} color={share >= 90 ? 'red' : undefined} aria-label={name} />
      <Note mt={4}>
        {text('quota.resets')} <TimeText value={endsAt} as="distance" />
      </Note>
    </div>
  );
}

function QuotaForm({ account }: { account: MyAccount }) {
  const { update, reload } = useInstallationAccount();
  const { values, change, changed, saving, error, submit, reset } = useForm({
    stored: { quota: account.quota },
    toValues: ({ quota: { perHour, perDay } }) => ({
      perHour: (perHour ?? '') as number | string,
      perDay: (perDay ?? '') as number | string,
    }),
    async save({ values: { perHour, perDay }, stored: { quota } }) {
      return update(
        { quota },
        { quota: { ...numberIn('perHour', perHour), ...numberIn('perDay', perDay) } },
      );
    },
    reload,
  });
  const errorOf = (name: 'perHour' | 'perDay') =>
    reasonFor(error, `quota.${name}`) ?? reasonFor(error, name);

  const field = {
    placeholder: text('quota.noLimit'),
    // Out-of-range numbers are rejected instead of being clamped.
    clampBehavior: 'none' as const,
    allowDecimal: false,
    thousandSeparator: true,
  };
  return (
    <form onSubmit={submit}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} mb="md">
        <NumberInput
          {...field}
          label={text('quota.perHour')}
          value={values.perHour}
          onChange={(perHour) => change({ perHour })}
          error={errorOf('perHour')}
        />
        <NumberInput
          {...field}
          label={text('quota.perDay')}
          value={values.perDay}
          onChange={(perDay) => change({ perDay })}
          error={errorOf('perDay')}
        />
      </SimpleGrid>
      <SaveButton changed={changed} saving={saving} />
      <ProblemAlert error={error} onRefreshed={reset} />
    </form>
  );
}

/** A limit; without one the member is omitted. @throws for a lone sign, which isn’t a number */
function numberIn(name: 'perHour' | 'perDay', value: number | string): { [name]?: number } {
  if (Number.isNaN(Number(value))) throw localProblem(name, text('quota.noNumber'));
  return value === '' ? {} : { [name]: Number(value) };
}

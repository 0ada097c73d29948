import { Button, Group, NumberInput, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Fragment } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Domain } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { Note } from '../components/note.tsx';
import { showNotice } from '../components/notices.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useForm } from '../form/use-form.ts';
import { formatNumber } from '../format/format-number.ts';
import { formatDay } from '../format/format-time.ts';
import { text } from '../texts/text.ts';
import { dayOfPlan, warmUpPlan } from './warm-up-plan.ts';

/** The warm-up of a domain: shows the current plan or starts one. */
export function WarmUpCard({ domain }: { domain: Domain }) {
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  const { warmUp } = domain;
  return (
    <SectionCard
      id="warm-up"
      title={text('warmUp.title')}
      hint={text('warmUp.hint')}
      action={
        may('domains:write') && (
          <Button size="compact-sm" variant="default" onClick={dialog.open}>
            {text(warmUp === null ? 'warmUp.begin' : 'warmUp.change')}
          </Button>
        )
      }
    >
      {warmUp !== null && <WarmUpProgress warmUp={warmUp} />}
      <WarmUpDialog opened={opened} domain={domain} close={dialog.close} />
    </SectionCard>
  );
}

function WarmUpProgress({ warmUp: { from, plan } }: { warmUp: NonNullable<Domain['warmUp']> }) {
  const day = dayOfPlan(from);
  const dayLimit = plan[day];
  const status =
    day < 0
      ? text('warmUp.begins', { day: formatDay(`${from}T12:00:00`) })
      : dayLimit === undefined
        ? text('warmUp.complete')
        : text('warmUp.today', {
            day: day + 1,
            days: plan.length,
            limit: formatNumber(dayLimit),
          });
  return (
    <div>
      <Text size="sm" fw={600} mt="sm">
        {status}
      </Text>
      <Note size="sm" mt={4}>
        {plan.map((limit, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: it is the day, and limits can repeat
          <Fragment key={index}>
            {index === day ? (
              <Text span inherit fw={600} c="bright" aria-current="date">
                {formatNumber(limit)}
              </Text>
            ) : (
              formatNumber(limit)
            )}
            {' → '}
          </Fragment>
        ))}
        {text('warmUp.noLimit')}
      </Note>
    </div>
  );
}

/** A usual warm-up, from today. */
function newWarmUp() {
  return {
    from: new Date().toISOString().slice(0, 10),
    first: 50 as number | string,
    goal: 20_000 as number | string,
  };
}

function planOf({ first, goal }: ReturnType<typeof newWarmUp>) {
  return warmUpPlan(Math.max(Number(first), 1), Math.max(Number(goal), 1));
}

const WarmUpDialog = dialogOf(WarmUpForm, () => text('warmUp.begin'));

function WarmUpForm({ domain: shown, close }: { domain: Domain; close: () => void }) {
  const accountId = useAccountId();
  const refresh = useRefresh('domains');
  const { values, change, dialog } = useForm({
    stored: { warmUp: shown.warmUp },
    toValues: newWarmUp,
    async save({ values, stored: { warmUp } }) {
      const path = '/accounts/{accountId}/domains/{domain}/settings';
      const params = { accountId, domain: shown.domain };
      const plan = planOf(values);
      const saved = await putUnchanged(
        path,
        params,
        { warmUp },
        { warmUp: { from: values.from, plan } },
      );
      await refresh();
      showNotice(text('warmUp.saved', { days: plan.length }));
      return saved;
    },
  });
  const plan = planOf(values);

  return (
    <DialogForm close={close} action={text('warmUp.begin')} {...dialog}>
      {(error) => (
        <>
          <TextInput
            type="date"
            label={text('warmUp.from')}
            required
            value={values.from}
            onChange={(event) => change({ from: event.currentTarget.value })}
            error={reasonFor(error, 'from') ?? reasonFor(error, 'warmUp')}
          />
          <Group grow>
            <NumberInput
              label={text('warmUp.first')}
              required
              min={1}
              max={1_000_000}
              allowDecimal={false}
              thousandSeparator
              value={values.first}
              onChange={(first) => change({ first })}
            />
            <NumberInput
              label={text('warmUp.goal')}
              required
              min={1}
              max={100_000_000}
              allowDecimal={false}
              thousandSeparator
              value={values.goal}
              onChange={(goal) => change({ goal })}
            />
          </Group>
          <Text size="sm" c="dimmed" role="status">
            {text('warmUp.plan', {
              days: plan.length,
              plan: plan.map((one) => formatNumber(one)).join(', '),
            })}
          </Text>
        </>
      )}
    </DialogForm>
  );
}

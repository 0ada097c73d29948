import { Group, NativeSelect, Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { localProblem, reasonFor } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';

/** Periods to choose from, in hours until now; 0: any. */
const periods = [1, 24, 168, 0] as const;
const hourMs = 3_600_000;

interface ReplayDialogProps {
  close: () => void;
  webhookId: string;
}

/** Starts a replay of a period. */
export const ReplayDialog = dialogOf(ReplayForm, () => text('webhooks.replayPeriod'));

function ReplayForm({ close, webhookId }: ReplayDialogProps) {
  const accountId = useAccountId();
  const refresh = useRefresh('webhooks');
  const [hours, setHours] = useState<number>(24);
  const [from, setFrom] = useState(() => toLocal(Date.now() - 24 * hourMs));
  const [until, setUntil] = useState(() => toLocal(Date.now()));
  const [which, setWhich] = useState<string>('failed');

  async function submit() {
    const now = Date.now();
    const start = hours > 0 ? now - hours * hourMs : readLocal('from', from);
    // The picker is exact to the minute, which its end includes.
    const end = hours > 0 ? now : readLocal('until', until) + 60_000;
    await api.post(
      '/accounts/{accountId}/webhooks/{webhookId}/replay',
      { accountId, webhookId },
      {
        from: new Date(start).toISOString(),
        until: new Date(end).toISOString(),
        ...(which === 'failed' && { state: 'failed' }),
      },
    );
    await refresh();
  }

  return (
    <DialogForm close={close} action={text('webhooks.replay')} submit={submit}>
      {(error) => (
        <Stack gap="sm">
          <NativeSelect
            label={text('webhooks.period')}
            value={String(hours)}
            onChange={(event) => setHours(Number(event.currentTarget.value))}
            data={choicesOf(periods, (value) => text(`webhooks.period.${value}`))}
            data-autofocus
          />
          {hours === 0 && (
            <Group grow align="flex-start">
              <TextInput
                type="datetime-local"
                label={text('webhooks.from')}
                required
                value={from}
                onChange={(event) => setFrom(event.currentTarget.value)}
                error={reasonFor(error, 'from')}
              />
              <TextInput
                type="datetime-local"
                label={text('webhooks.until')}
                required
                value={until}
                onChange={(event) => setUntil(event.currentTarget.value)}
                error={reasonFor(error, 'until')}
              />
            </Group>
          )}
          <Radio.Group
            label={text('webhooks.kinds')}
            description={text('webhooks.replayHint')}
            value={which}
            onChange={setWhich}
          >
            <Stack gap={6} mt={6}>
              <Radio value="failed" label={text('webhooks.replayFailed')} />
              <Radio value="all" label={text('webhooks.replayAll')} />
            </Stack>
          </Radio.Group>
        </Stack>
      )}
    </DialogForm>
  );
}

/** In the form of a `datetime-local` input, in the browser's time zone. */
function toLocal(time: number): string {
  const offsetMs = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offsetMs).toISOString().slice(0, 16);
}

/** @throws ApiProblem if the browser left an invalid value */
function readLocal(field: string, value: string): number {
  const time = new Date(value).getTime();
  if (Number.isNaN(time)) throw localProblem(field, text('webhooks.badTime'));
  return time;
}

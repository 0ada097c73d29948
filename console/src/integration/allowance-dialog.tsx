import { Button, Group, Modal, NumberInput, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useAccountId, useMe } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { Integration } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { Rows } from '../components/rows.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

interface AllowanceDialogProps {
  opened: boolean;
  close: () => void;
  integration: Integration;
}

/** Remaining initial token requests per user; operators can change the limit. */
export function AllowanceDialog({ opened, close, integration }: AllowanceDialogProps) {
  const { clientId, name, allowance } = integration;
  const { data: me } = useMe();
  return (
    <Modal opened={opened} onClose={close} title={text('allowance.of', { name })} size="lg">
      <Stack>
        <Text size="sm">{text('allowance.hint', { count: allowance })}</Text>
        <AllowanceUses clientId={clientId} />
        {me?.operator === true && <AllowanceForm clientId={clientId} />}
      </Stack>
    </Modal>
  );
}

function AllowanceUses({ clientId }: { clientId: string }) {
  const accountId = useAccountId();
  const uses = useQuery({
    queryKey: ['allowance-uses', accountId, clientId],
    queryFn: () =>
      api.get('/accounts/{accountId}/integrations/{clientId}/allowance-uses', {
        accountId,
        clientId,
      }),
    refetchInterval: 10_000,
  });
  const items = uses.data?.items ?? [];
  return (
    <>
      <ProblemAlert error={uses.error} retry={() => uses.refetch()} />
      {uses.isLoading && <Skeleton height={60} />}
      {uses.data !== undefined && items.length === 0 && (
        <Text size="sm" c="dimmed">
          {text('allowance.unused')}
        </Text>
      )}
      {items.length > 0 && (
        <Rows
          label={text('allowance.title')}
          items={items}
          idOf={({ email }) => email}
          columns={[
            { title: text('allowance.person'), cell: ({ email }) => email },
            { title: text('allowance.used'), numeric: true, cell: ({ used }) => used },
            { title: text('allowance.left'), numeric: true, cell: ({ left }) => left },
            {
              title: text('allowance.free'),
              cell: ({ freeAt }) => freeAt !== null && <TimeText value={freeAt} as="distance" />,
            },
          ]}
        />
      )}
    </>
  );
}

function AllowanceForm({ clientId }: { clientId: string }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const path = '/installation/integrations/{clientId}/allowance';
  const params = { clientId };
  const queryKey = ['allowance', clientId];
  const current = useQuery({ queryKey, queryFn: () => api.get(path, params) });
  const { values, change, saving, error, submit } = useForm({
    stored: current.data,
    toValues: (stored) => ({ perHour: (stored?.perHour ?? '') as number | string }),
    async save({ values: { perHour }, stored }) {
      const now = await putUnchanged(path, params, stored ?? {}, { perHour: Number(perHour) });
      showNotice(text('allowance.saved'));
      return now;
    },
    reload: () =>
      Promise.all(
        [queryKey, ['integrations', accountId], ['allowance-uses', accountId, clientId]].map(
          (key) => client.invalidateQueries({ queryKey: key }),
        ),
      ),
  });

  return (
    <form onSubmit={submit}>
      <Group align="flex-end">
        <NumberInput
          label={text('allowance.perHour')}
          min={1}
          max={1_000}
          clampBehavior="none"
          allowDecimal={false}
          required
          value={values.perHour}
          onChange={(perHour) => change({ perHour })}
          error={reasonFor(error, 'perHour')}
        />
        <Button type="submit" variant="default" loading={saving}>
          {text('save')}
        </Button>
      </Group>
      <ProblemAlert error={current.error ?? error} />
    </form>
  );
}

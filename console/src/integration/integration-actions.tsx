import { Button, Group, List, Modal, NumberInput, Skeleton, Stack, Text } from '@mantine/core';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { deleteUnchanged, putUnchanged } from '../api/if-unchanged.ts';
import type { ClientSecret, Integration } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { Note } from '../components/note.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu, type RowMenuItem } from '../components/row-menu.tsx';
import { Rows } from '../components/rows.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { useForm } from '../form/use-form.ts';
import { RotateDialog } from '../key/rotate-dialog.tsx';
import { text } from '../texts/text.ts';
import { IntegrationDialog } from './integration-dialog.tsx';

interface IntegrationActionsProps {
  integration: Integration;
  show: (secret: ClientSecret) => void;
}

/** The actions of an integration; the ones that cut it off require typing its name. */
export function IntegrationActions({ integration, show }: IntegrationActionsProps) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('integrations');
  const change = useDialog();
  const consent = useDialog();
  const allow = useDialog();
  const remove = useDialog();
  const rotate = useDialog();
  const { clientId, name, redirectUri, requirePkce, disabled } = integration;
  const resourcePath = '/accounts/{accountId}/integrations/{clientId}';
  const params = { accountId, clientId };
  const seen = { name, redirectUri, requirePkce, disabled };

  const toggle = useAction({
    mutationFn: () => putUnchanged(resourcePath, params, seen, { ...seen, disabled: !disabled }),
    onSuccess: refresh,
  });

  async function rotateSecret(overlapHours: number) {
    const secret = await api.post(`${resourcePath}/secret`, params, { overlapHours });
    await refresh();
    show(secret);
  }

  async function removeIntegration() {
    await deleteUnchanged(resourcePath, params, seen);
    await refresh();
  }

  const write = may('integrations:write');
  const changes: readonly RowMenuItem[] = [
    { label: text('change'), choose: change.open },
    { label: text('integrations.rotate'), choose: rotate.open },
    {
      label: text(disabled ? 'integrations.enable' : 'integrations.disable'),
      choose: () => toggle.mutate(),
    },
    { label: text('remove'), color: 'red', choose: remove.open },
  ];
  return (
    <>
      <RowMenu
        name={name}
        items={[
          { label: text('integrations.consents'), choose: consent.open },
          { label: text('allowance.title'), choose: allow.open },
          ...(write ? changes : []),
        ]}
      />
      <ProblemAlert error={toggle.error} onRefreshed={toggle.reset} />
      <ConsentsDialog {...consent.props} integration={integration} />
      <AllowanceDialog {...allow.props} integration={integration} />
      <IntegrationDialog {...change.props} integration={integration} />
      <RotateDialog
        {...rotate.props}
        title={text('integrations.rotate')}
        texts="integrations"
        rotate={rotateSecret}
      />
      <ConfirmByName
        {...remove.props}
        title={text('integrations.removeTitle')}
        consequence={text('integrations.removeConsequence')}
        name={clientId}
        action={text('remove')}
        confirm={removeIntegration}
      />
    </>
  );
}

interface DialogProps {
  opened: boolean;
  close: () => void;
  integration: Integration;
}

/** The consents to an integration; people revoke their own consent on their own page. */
function ConsentsDialog({ opened, close, integration }: DialogProps) {
  const { clientId, name } = integration;
  const consents = useGet('/accounts/{accountId}/integrations/{clientId}/consents', {
    params: { clientId },
    enabled: opened,
  });
  return (
    <Modal opened={opened} onClose={close} title={text('integrations.consentsTo', { name })}>
      <ProblemAlert error={consents.error} />
      {consents.isLoading && <Skeleton height={60} />}
      {consents.data?.items.length === 0 && (
        <Text c="dimmed">{text('integrations.noConsents')}</Text>
      )}
      <List>
        {consents.data?.items.map(({ email, grantedAt }) => (
          <List.Item key={email}>
            {email} · <TimeText value={grantedAt} />
          </List.Item>
        ))}
      </List>
    </Modal>
  );
}

/** Remaining initial token requests per user; operators can change the limit. */
function AllowanceDialog({ opened, close, integration }: DialogProps) {
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
  const uses = useGet('/accounts/{accountId}/integrations/{clientId}/allowance-uses', {
    params: { clientId },
    refetchInterval: 10_000,
  });
  const items = uses.data?.items ?? [];
  return (
    <>
      <ProblemAlert error={uses.error} retry={() => uses.refetch()} />
      {uses.isLoading && <Skeleton height={60} />}
      {uses.data !== undefined && items.length === 0 && (
        <Note size="sm">{text('allowance.unused')}</Note>
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
  const refresh = useRefresh('integrations');
  const path = '/installation/integrations/{clientId}/allowance';
  const params = { clientId };
  const current = useGet(path, { params });
  const { values, change, saving, error, submit } = useForm({
    stored: current.data,
    toValues: (stored) => ({ perHour: (stored?.perHour ?? '') as number | string }),
    save: ({ values: { perHour }, stored }) =>
      putUnchanged(path, params, stored ?? {}, { perHour: Number(perHour) }),
    notice: text('allowance.saved'),
    async reload() {
      await Promise.all([current.refetch(), refresh()]);
    },
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

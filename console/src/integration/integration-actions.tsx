import { ActionIcon, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { ClientSecret, Integration } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { unlessChanged } from '../api/unless-changed.ts';
import { useAction } from '../api/use-action.ts';
import { ConfirmByName } from '../parts/confirm-by-name.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { AllowanceDialog } from './allowance-dialog.tsx';
import { ConsentsDialog } from './consents-dialog.tsx';
import { IntegrationDialog } from './integration-dialog.tsx';
import { RotateSecretDialog } from './rotate-secret-dialog.tsx';

interface IntegrationActionsProps {
  integration: Integration;
  show: (secret: ClientSecret) => void;
}

/** What can be done with an integration. What cuts it off from the service asks by name. */
export function IntegrationActions({ integration, show }: IntegrationActionsProps) {
  const accountId = useAccountId();
  const may = useMay();
  const client = useQueryClient();
  const [changing, change] = useDisclosure();
  const [consents, consent] = useDisclosure();
  const [allowance, allow] = useDisclosure();
  const [removing, remove] = useDisclosure();
  const [rotating, rotate] = useDisclosure();
  const { clientId, name, redirectUri, requirePkce, disabled } = integration;
  const it = '/accounts/{accountId}/integrations/{clientId}';
  const params = { path: { accountId, clientId } };
  const seen = { name, redirectUri, requirePkce, disabled };
  const read = () => api.GET(it, { params });
  const refresh = () => client.invalidateQueries({ queryKey: ['integrations', accountId] });

  const toggle = useAction({
    mutationFn: () =>
      unlessChanged(seen, read, (precondition) =>
        api.PUT(it, { params, body: { ...seen, disabled: !disabled }, ...precondition }),
      ),
    onSuccess: refresh,
  });

  async function removeIt() {
    await unlessChanged(seen, read, (precondition) => api.DELETE(it, { params, ...precondition }));
    await refresh();
  }

  const write = may('integrations:write');
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" aria-label={text('actionsFor', { name })}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={consent.open}>{text('integrations.consents')}</Menu.Item>
          <Menu.Item onClick={allow.open}>{text('allowance.title')}</Menu.Item>
          {write && <Menu.Item onClick={change.open}>{text('change')}</Menu.Item>}
          {write && <Menu.Item onClick={rotate.open}>{text('integrations.rotate')}</Menu.Item>}
          {write && (
            <Menu.Item onClick={() => toggle.mutate()}>
              {text(disabled ? 'integrations.enable' : 'integrations.disable')}
            </Menu.Item>
          )}
          {write && (
            <Menu.Item color="red" onClick={remove.open}>
              {text('remove')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ProblemAlert error={toggle.error} renewed={toggle.reset} />
      <ConsentsDialog opened={consents} close={consent.close} integration={integration} />
      <AllowanceDialog opened={allowance} close={allow.close} integration={integration} />
      <IntegrationDialog opened={changing} close={change.close} integration={integration} />
      <RotateSecretDialog opened={rotating} close={rotate.close} clientId={clientId} show={show} />
      <ConfirmByName
        opened={removing}
        close={remove.close}
        title={text('integrations.removeTitle')}
        consequence={text('integrations.removeConsequence')}
        name={clientId}
        action={text('remove')}
        confirm={removeIt}
      />
    </>
  );
}

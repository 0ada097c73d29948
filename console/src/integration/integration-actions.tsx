import { useDisclosure } from '@mantine/hooks';
import { useAccountId, useMay } from '../account/use-me.ts';
import { deleteUnchanged, putUnchanged } from '../api/if-unchanged.ts';
import type { ClientSecret, Integration } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu, type RowMenuItem } from '../components/row-menu.tsx';
import { RotateDialog } from '../key/rotate-dialog.tsx';
import { text } from '../texts/text.ts';
import { AllowanceDialog } from './allowance-dialog.tsx';
import { ConsentsDialog } from './consents-dialog.tsx';
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
  const [changing, change] = useDisclosure();
  const [consents, consent] = useDisclosure();
  const [allowance, allow] = useDisclosure();
  const [removing, remove] = useDisclosure();
  const [rotating, rotate] = useDisclosure();
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
      <ConsentsDialog opened={consents} close={consent.close} integration={integration} />
      <AllowanceDialog opened={allowance} close={allow.close} integration={integration} />
      <IntegrationDialog opened={changing} close={change.close} integration={integration} />
      <RotateDialog
        opened={rotating}
        close={rotate.close}
        title={text('integrations.rotate')}
        texts="integrations"
        rotate={rotateSecret}
      />
      <ConfirmByName
        opened={removing}
        close={remove.close}
        title={text('integrations.removeTitle')}
        consequence={text('integrations.removeConsequence')}
        name={clientId}
        action={text('remove')}
        confirm={removeIntegration}
      />
    </>
  );
}

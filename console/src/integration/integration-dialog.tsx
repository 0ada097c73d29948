import { Checkbox, Modal, Stack, Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { createNew, ifUnchanged } from '../api/if-unchanged.ts';
import type { ClientSecret, Integration } from '../api/management.generated.ts';
import { answerOf, api, type Precondition } from '../api/management.ts';
import { Field, IdField } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';

type Grant = 'password' | 'authorization_code' | 'refresh_token';

interface IntegrationDialogProps {
  opened: boolean;
  close: () => void;
  /** If given, it is edited. */
  integration?: Integration;
  /** Receives the secret of a new integration. */
  show?: (secret: ClientSecret) => void;
}

/** The edited members. */
function settingsOf({ name, redirectUri, requirePkce, grants }: Integration) {
  return { name, redirectUri, requirePkce, grants };
}

/** Registers an integration and shows its secret, or edits one. */
export function IntegrationDialog({ opened, ...form }: IntegrationDialogProps) {
  const title = text(form.integration === undefined ? 'integrations.add' : 'integrations.change');
  return (
    <Modal opened={opened} onClose={form.close} title={title}>
      <IntegrationForm {...form} />
    </Modal>
  );
}

function IntegrationForm({ show, close, ...props }: Omit<IntegrationDialogProps, 'opened'>) {
  const accountId = useAccountId();
  const client = useQueryClient();
  // Edits the data shown when the dialog opened, even if the page reloads it.
  const [integration] = useState(props.integration);
  const [clientId, setClientId] = useState(integration?.clientId ?? '');
  const [name, setName] = useState(integration?.name ?? '');
  const [redirectUri, setRedirectUri] = useState(integration?.redirectUri ?? '');
  const [requirePkce, setRequirePkce] = useState(integration?.requirePkce ?? false);
  const [grants, setGrants] = useState<string[]>(
    integration?.grants ?? ['authorization_code', 'refresh_token'],
  );

  async function submit() {
    const path = '/accounts/{accountId}/integrations/{clientId}';
    const params = { path: { accountId, clientId } };
    const body = {
      name,
      requirePkce,
      grants: grants as Grant[],
      ...(redirectUri === '' ? {} : { redirectUri }),
    };
    const put = (precondition: Precondition) => api.PUT(path, { params, body, ...precondition });
    if (integration === undefined) await createNew('clientId', put);
    else await ifUnchanged(settingsOf(integration), () => api.GET(path, { params }), put);
    await client.invalidateQueries({ queryKey: ['integrations', accountId] });
    if (integration !== undefined) return;
    const secret = await answerOf(
      api.POST('/accounts/{accountId}/integrations/{clientId}/secret', { params, body: {} }),
    );
    show?.(secret);
  }

  return (
    <DialogForm
      close={close}
      action={text(integration === undefined ? 'integrations.register' : 'save')}
      submit={submit}
    >
      {(error) => (
        <Stack gap="sm">
          <Field
            field="name"
            label={text('integrations.name')}
            description={text('integrations.nameHint')}
            required
            value={name}
            change={setName}
            error={error}
            data-autofocus
          />
          <IdField
            field="clientId"
            label={text('integrations.clientId')}
            description={text('integrations.clientIdHint')}
            value={clientId}
            disabled={integration !== undefined}
            change={setClientId}
            error={error}
          />
          <Checkbox.Group label={text('integrations.grants')} value={grants} onChange={setGrants}>
            <Stack gap={6} mt={4}>
              {(['authorization_code', 'refresh_token', 'password'] as const).map((grant) => (
                <Checkbox
                  key={grant}
                  value={grant}
                  label={text(`grant.${grant}`)}
                  description={text(`grantHint.${grant}`)}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          <Field
            field="redirectUri"
            label={text('integrations.redirectUri')}
            description={text('integrations.redirectUriHint')}
            placeholder="https://localhost/callback"
            value={redirectUri}
            change={setRedirectUri}
            error={error}
          />
          <Switch
            label={text('integrations.requirePkce')}
            description={text('integrations.requirePkceHint')}
            checked={requirePkce}
            onChange={(event) => setRequirePkce(event.currentTarget.checked)}
          />
        </Stack>
      )}
    </DialogForm>
  );
}

import { Checkbox, Stack, Switch } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { createNew, putUnchanged } from '../api/if-unchanged.ts';
import type { ClientSecret, Integration } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { Field, IdField } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

type Grant = 'password' | 'authorization_code' | 'refresh_token';

interface IntegrationDialogProps {
  close: () => void;
  /** If given, it is edited. */
  integration?: Integration;
  /** Receives the secret of a new integration. */
  show?: (secret: ClientSecret) => void;
}

const integrationPath = '/accounts/{accountId}/integrations/{clientId}';

/** The edited members. */
function toValues(integration: Integration | undefined) {
  return {
    clientId: integration?.clientId ?? '',
    name: integration?.name ?? '',
    redirectUri: integration?.redirectUri ?? '',
    requirePkce: integration?.requirePkce ?? false,
    grants: (integration?.grants ?? ['authorization_code', 'refresh_token']) as string[],
  };
}

/** Registers an integration and shows its secret, or edits one. */
export const IntegrationDialog = dialogOf(IntegrationForm, ({ integration }) =>
  text(integration === undefined ? 'integrations.add' : 'integrations.change'),
);

function IntegrationForm({ show, close, ...props }: IntegrationDialogProps) {
  const accountId = useAccountId();
  const refresh = useRefresh('integrations');
  const { values, change, stored, dialog } = useForm({
    stored: props.integration,
    toValues,
    async save({ values, seen, stored: integration }) {
      const { clientId, redirectUri, grants, ...others } = values;
      const params = { accountId, clientId };
      const body = {
        ...others,
        grants: grants as Grant[],
        // An empty one of an existing app isn't omitted, which would keep the old one without a word.
        ...((redirectUri !== '' || integration !== undefined) && { redirectUri }),
      };
      const saved = await (integration === undefined
        ? createNew('clientId', integrationPath, params, body)
        : putUnchanged(integrationPath, params, seen, body));
      await refresh();
      if (integration === undefined) {
        const secret = await api.post(
          '/accounts/{accountId}/integrations/{clientId}/secret',
          params,
          {},
        );
        show?.(secret);
      }
      return saved;
    },
  });

  return (
    <DialogForm
      close={close}
      action={text(stored === undefined ? 'integrations.register' : 'save')}
      {...dialog}
    >
      <Stack gap="sm">
        <Field
          field="name"
          label={text('integrations.name')}
          description={text('integrations.nameHint')}
          required
          value={values.name}
          change={(name) => change({ name })}
          data-autofocus
        />
        <IdField
          field="clientId"
          label={text('integrations.clientId')}
          description={text('integrations.clientIdHint')}
          value={values.clientId}
          disabled={stored !== undefined}
          change={(clientId) => change({ clientId })}
        />
        <Checkbox.Group
          label={text('integrations.grants')}
          value={values.grants}
          onChange={(grants) => change({ grants })}
        >
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
          value={values.redirectUri}
          change={(redirectUri) => change({ redirectUri })}
        />
        <Switch
          label={text('integrations.requirePkce')}
          description={text('integrations.requirePkceHint')}
          checked={values.requirePkce}
          onChange={(event) => change({ requirePkce: event.currentTarget.checked })}
        />
      </Stack>
    </DialogForm>
  );
}

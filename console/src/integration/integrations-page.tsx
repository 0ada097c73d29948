import { AreaList } from '../components/area-list.tsx';
import { Note } from '../components/note.tsx';
import './integration-texts.ts';
import { Group } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../account/use-me.ts';
import type { ClientSecret } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { CopyField } from '../components/copy-field.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { text, textOr } from '../texts/text.ts';
import { IntegrationActions } from './integration-actions.tsx';
import { IntegrationDialog } from './integration-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';

/** OAuth apps: programs of others, which act for people who approve them. */
export function IntegrationsPage() {
  const may = useMay();
  const { button: add, dialog } = useAddDialog(text('integrations.add'), 'integrations:write');
  const [secret, setSecret] = useState<ClientSecret>();
  const pages = usePages('/accounts/{accountId}/integrations');
  return (
    <AreaList
      area="integrations"
      add={add}
      pages={pages}
      idOf={({ clientId }) => clientId}
      columns={[
        {
          title: text('integrations.name'),
          cell: ({ name, disabled, previousSecretUntil }) => (
            <div>
              <Group gap={6} wrap="nowrap">
                {name}
                {disabled && <Tag>{text('integrations.disabled')}</Tag>}
              </Group>
              {previousSecretUntil !== null && (
                <Note>
                  {text('integrations.previous')} <TimeText value={previousSecretUntil} />
                </Note>
              )}
            </div>
          ),
        },
        {
          title: text('integrations.clientId'),
          cell: ({ clientId }) => (
            <CopyField value={clientId} label={text('integrations.clientId')} nowrap />
          ),
        },
        {
          title: text('integrations.grants'),
          cell: ({ grants }) => grants.map((name) => textOr(`grant.${name}`, name)).join(' · '),
        },
        {
          title: text('integrations.limit'),
          cell: ({ allowance }) => (
            <span className="nowrap">{text('integrations.allowance', { count: allowance })}</span>
          ),
        },
        {
          title: text('actions'),
          actions: true,
          cell: (integration) => <IntegrationActions integration={integration} show={setSecret} />,
        },
      ]}
    >
      {may('keys:read') && (
        <Note size="sm" mt="md">
          {text('integrations.forOwn')}{' '}
          <PageAnchor to="/$account/keys" underline="always">
            {text('integrations.useKey')}
          </PageAnchor>
        </Note>
      )}
      <IntegrationDialog {...dialog} show={setSecret} />
      <SecretDialog
        name={text('integrations.secret')}
        secret={secret?.clientSecret}
        id={secret?.clientId}
        close={() => setSecret(undefined)}
      />
    </AreaList>
  );
}

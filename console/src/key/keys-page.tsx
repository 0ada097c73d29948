import { keyOf } from '../api/use-get.ts';
import { AreaList } from '../components/area-list.tsx';
import { Note } from '../components/note.tsx';
import { useDialog } from '../components/use-dialog.ts';
import './key.css';
import { Button, Code, Group, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccount, useAccountId, useMay, useMe } from '../account/use-me.ts';
import type { ApiKey } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { CopyHeading } from '../components/copy-field.tsx';
import { PageAnchor } from '../components/links.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { formatShortDay } from '../format/format-time.ts';
import { SecretDialog } from '../integration/secret-dialog.tsx';
import { curlWithKey } from '../template/snippets.ts';
import { text, textOr } from '../texts/text.ts';
import { ApiKeyDialog, type CreatedKey } from './api-key-dialog.tsx';
import { presetOf } from './key-scopes.ts';
import { RotateDialog } from './rotate-dialog.tsx';

/** API keys, for the account's own systems. */
export function KeysPage() {
  const may = useMay();
  const { button: add, dialog } = useAddDialog(text('keys.add'), 'keys:write', 'new-key');
  const [created, setCreated] = useState<CreatedKey>();
  const pages = usePages('/accounts/{accountId}/keys');
  return (
    <AreaList
      area="keys"
      add={add}
      pages={pages}
      idOf={({ id }) => id}
      columns={[
        { title: text('keys.key'), cell: (apiKey) => <KeyName apiKey={apiKey} /> },
        { title: text('keys.access'), cell: (apiKey) => <KeyAccess apiKey={apiKey} /> },
        {
          title: text('keys.used'),
          cell: ({ lastUsedAt }) =>
            lastUsedAt === null ? (
              text('keys.notUsed')
            ) : (
              <TimeText value={lastUsedAt} as="distance" />
            ),
        },
        { title: text('keys.expires'), cell: (apiKey) => <KeyExpiry apiKey={apiKey} /> },
        {
          title: text('actions'),
          actions: true,
          cell: (apiKey) => may('keys:write') && <KeyActions apiKey={apiKey} show={setCreated} />,
        },
      ]}
    >
      {may('integrations:read') && (
        <Note size="sm" mt="md">
          {text('keys.forOthers')}{' '}
          <PageAnchor to="/$account/integrations" underline="always">
            {text('keys.useApp')}
          </PageAnchor>
        </Note>
      )}
      <ApiKeyDialog {...dialog} show={setCreated} />
      <SecretDialog
        name={text('keys.key')}
        secret={created?.key}
        close={() => setCreated(undefined)}
      >
        {created?.sampleTemplateId !== undefined && (
          <TryKey keyText={created.key} templateId={created.sampleTemplateId} />
        )}
      </SecretDialog>
    </AreaList>
  );
}

function KeyName({ apiKey }: { apiKey: ApiKey }) {
  const { name, mode, hint, createdBy, createdAt, replacedBy } = apiKey;
  const accountId = useAccountId();
  return (
    <div>
      <Text size="sm" className="breakable">
        {name} {mode === 'test' && <Tag>{text('keys.mode.test')}</Tag>}{' '}
        {replacedBy !== null && <Tag>{text('keys.rotated')}</Tag>}
      </Text>
      {hint !== null && <Code>{`sp_${accountId}_…${hint}`}</Code>}
      <Note className="breakable">
        {text(createdBy === null ? 'keys.byCommand' : 'keys.by', {
          person: createdBy ?? '',
          day: formatShortDay(new Date(createdAt)),
        })}
      </Note>
    </div>
  );
}

/** The preset or the number of scopes, with the list behind. */
function KeyAccess({ apiKey: { scopes, networks, templates } }: { apiKey: ApiKey }) {
  const { account } = useAccount();
  const preset = presetOf(scopes, account?.permissions ?? []);
  const limits = [
    templates && text('keys.onlyTemplates', { templates: templates.join(', ') }),
    networks && text('keys.onlyNetworks', { networks: networks.join(', ') }),
  ].filter((limit) => limit !== null);
  return (
    <div>
      <details className="key-access">
        <summary>
          {preset === undefined
            ? text('keys.permissions', { count: scopes.length })
            : text(`keys.preset.${preset}`)}
        </summary>
        <List size="xs">
          {scopes.map((scope) => (
            <List.Item key={scope}>{textOr(`keys.scope.${scope}`, scope)}</List.Item>
          ))}
        </List>
      </details>
      {limits.map((limit) => (
        <Note key={limit} className="breakable">
          {limit}
        </Note>
      ))}
    </div>
  );
}

function isExpired({ expiresAt }: ApiKey): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}

function KeyExpiry({ apiKey }: { apiKey: ApiKey }) {
  if (apiKey.expiresAt === null) return text('keys.noExpiry');
  if (isExpired(apiKey)) return <Tag color="red">{text('keys.expired')}</Tag>;
  return <TimeText value={apiKey.expiresAt} as="distance" />;
}

function KeyActions({ apiKey, show }: { apiKey: ApiKey; show: (created: CreatedKey) => void }) {
  const accountId = useAccountId();
  const refresh = useRefresh('keys');
  const revocation = useDialog();
  const rotation = useDialog();

  /** Replaces the key with an equivalent one. */
  async function rotate(overlapHours: number) {
    const { key, accessKeyId, secretAccessKey } = await api.post(
      '/accounts/{accountId}/keys/{keyId}/rotate',
      { accountId, keyId: apiKey.id },
      { overlapHours },
    );
    await refresh();
    const signing = `AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=${secretAccessKey}`;
    show({ key: secretAccessKey === null ? key : signing, sampleTemplateId: undefined });
  }

  async function revoke() {
    await api.delete('/accounts/{accountId}/keys/{keyId}', { accountId, keyId: apiKey.id });
    await refresh();
  }

  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {!isExpired(apiKey) && apiKey.replacedBy === null && (
        <Button size="compact-sm" variant="subtle" onClick={rotation.open}>
          {text('keys.rotate')}
        </Button>
      )}
      <RowMenu
        name={apiKey.name}
        items={[{ label: text('keys.end'), color: 'red', choose: revocation.open }]}
      />
      <RotateDialog
        {...rotation.props}
        title={text('keys.rotateTitle', { name: apiKey.name })}
        texts="keys"
        rotate={rotate}
      />
      <ConfirmByName
        {...revocation.props}
        title={text('keys.end')}
        consequence={text('keys.endConsequence')}
        name={apiKey.name}
        action={text('keys.end')}
        confirm={revoke}
      />
    </Group>
  );
}

/** A command that sends with a newly created key. */
function TryKey({ keyText, templateId }: { keyText: string; templateId: string }) {
  const accountId = useAccountId();
  const { data: me } = useMe();
  const values = useSamples(templateId);
  if (values === undefined) return null;
  const facts = { url: location.origin, accountId, templateId, values, to: me?.person?.email };
  const command = curlWithKey(facts, keyText);
  return (
    <div>
      <CopyHeading title={text('keys.try')} value={command} />
      <Code block className="snippet" tabIndex={0}>
        {command}
      </Code>
    </div>
  );
}

/** Samples of the required fields; undefined while loading. */
function useSamples(templateId: string): Readonly<Record<string, unknown>> | undefined {
  const accountId = useAccountId();
  const templatePath = '/accounts/{accountId}/templates/{templateId}';
  const path = { accountId, templateId };
  const { data, isPending } = useQuery({
    queryKey: [...keyOf(templatePath, path), 'samples'],
    queryFn: async () => {
      const { publishedVersion } = await api.get(templatePath, path);
      const { fields } = await api.get(`${templatePath}/versions/{version}`, {
        ...path,
        version: publishedVersion ?? 1,
      });
      return fields.filter(({ required }) => required);
    },
    retry: false,
  });
  if (isPending) return undefined;
  return Object.fromEntries((data ?? []).map(({ name, example }) => [name, example]));
}

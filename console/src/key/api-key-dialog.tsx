import {
  Anchor,
  Checkbox,
  Collapse,
  Fieldset,
  Group,
  MultiSelect,
  NativeSelect,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useAccount, useAccountId } from '../account/use-me.ts';
import type { ApiKey } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAll } from '../api/pages.ts';
import { reasonFor } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { text, textOr } from '../texts/text.ts';
import {
  isAllowedForTemplateKeys,
  type KeyPreset,
  type KeyScope,
  keyPresets,
  presetOf,
  scopeGroups,
  scopesIn,
  scopesOf,
} from './key-scopes.ts';

/** Lifetimes to choose from, in days; 0: never expires. */
const lifetimes = [0, 30, 90, 365] as const;

/** A newly created key. */
export interface CreatedKey {
  readonly key: string;
  /** A template to try it with; undefined if the key can't send. */
  readonly sampleTemplateId: string | undefined;
}

interface ApiKeyDialogProps {
  close: () => void;
  show: (created: CreatedKey) => void;
}

/** Creates an API key. */
export const ApiKeyDialog = dialogOf(ApiKeyForm, () => text('keys.add'), 'lg');

function ApiKeyForm({ close, show }: ApiKeyDialogProps) {
  const accountId = useAccountId();
  const refresh = useRefresh('keys');
  const templateIds = useTemplateIds();
  const [name, setName] = useState('');
  const { account } = useAccount();
  const [scopes, setScopes] = useState<readonly string[]>(
    scopesOf('send', account?.permissions ?? []),
  );
  const [days, setDays] = useState<number>(0);
  const [mode, setMode] = useState<ApiKey['mode']>('live');
  const [networks, setNetworks] = useState('');
  const [templates, setTemplates] = useState<string[]>([]);
  const [limitsShown, limits] = useDisclosure();
  const limited = templates.length > 0;

  async function submit() {
    const lines = networks.split('\n').map((line) => line.trim());
    const allowedNetworks = lines.filter((line) => line !== '');
    const allowed = scopes.filter(
      (scope) => !limited || isAllowedForTemplateKeys(scope),
    ) as KeyScope[];
    const { key } = await api.post(
      '/accounts/{accountId}/keys',
      { accountId },
      {
        name,
        scopes: allowed,
        ...(mode === 'test' && { mode }),
        ...(days > 0 && { expiresInDays: days }),
        ...(allowedNetworks.length > 0 && { networks: allowedNetworks }),
        ...(limited && { templates }),
      },
    );
    await refresh();
    const template = templates[0] ?? templateIds[0] ?? 'TEMPLATE_ID';
    show({ key, sampleTemplateId: allowed.includes('messages:send') ? template : undefined });
  }

  return (
    <DialogForm close={close} action={text('keys.create')} submit={submit}>
      {(error) => (
        <>
          <Group grow align="flex-start">
            <Field
              field="name"
              label={text('keys.name')}
              placeholder={text('keys.namePlaceholder')}
              required
              value={name}
              change={setName}
              error={error}
              data-autofocus
            />
            <NativeSelect
              label={text('keys.expires')}
              value={String(days)}
              onChange={(event) => setDays(Number(event.currentTarget.value))}
              data={choicesOf(lifetimes, (value) => text(`keys.lifetime.${value}`))}
            />
          </Group>
          <NativeSelect
            label={text('keys.mode')}
            description={text(`keys.modeHint.${mode}`)}
            value={mode}
            onChange={(event) => setMode(event.currentTarget.value as ApiKey['mode'])}
            data={choicesOf(['live', 'test'] as const, (value) => text(`keys.mode.${value}`))}
            error={reasonFor(error, 'mode')}
          />
          <KeyScopeChoice
            value={scopes}
            change={setScopes}
            limited={limited}
            error={reasonFor(error, 'scopes')}
          />
          <Collapse expanded={limitsShown}>
            <Stack>
              <MultiSelect
                label={text('keys.templates')}
                description={text('keys.templatesHint')}
                placeholder={limited ? undefined : text('keys.allTemplates')}
                data={templateIds}
                value={templates}
                onChange={setTemplates}
                error={reasonFor(error, 'templates')}
                searchable
                limit={100}
              />
              <Textarea
                label={text('keys.networks')}
                description={text('keys.networksHint')}
                placeholder="192.0.2.0/24"
                autosize
                minRows={1}
                value={networks}
                onChange={(event) => setNetworks(event.currentTarget.value)}
                error={reasonFor(error, 'networks')}
              />
            </Stack>
          </Collapse>
          {!limitsShown && (
            <Anchor component="button" type="button" size="sm" ta="start" onClick={limits.open}>
              {text('keys.addLimits')}
            </Anchor>
          )}
        </>
      )}
    </DialogForm>
  );
}

/** The account's published templates. */
function useTemplateIds(): string[] {
  const { data } = useAll('/accounts/{accountId}/templates', { query: { limit: 500 } });
  const published = data?.filter(({ publishedVersion }) => publishedVersion !== null);
  return published?.map(({ id }) => id) ?? [];
}

interface KeyScopeChoiceProps {
  value: readonly string[];
  change: (scopes: string[]) => void;
  /** The key is limited to templates. */
  limited: boolean;
  error: string | undefined;
}

/** What a key can do: a preset, or a choice from the list behind. */
function KeyScopeChoice({ value, change, limited, error }: KeyScopeChoiceProps) {
  const { account } = useAccount();
  const permissions = account?.permissions ?? [];
  const [listed, setListed] = useState(presetOf(value, permissions) === undefined);
  const chosen = listed ? 'custom' : (presetOf(value, permissions) ?? 'custom');

  function choose(preset: string) {
    setListed(preset === 'custom');
    if (preset !== 'custom') change(scopesOf(preset as KeyPreset, permissions));
  }

  return (
    <>
      <Radio.Group
        label={text('keys.access')}
        description={limited ? text('keys.scopesLimited') : undefined}
        value={chosen}
        onChange={choose}
        error={listed ? undefined : error}
      >
        <Stack gap={6} mt={6}>
          {[...keyPresets, 'custom' as const].map((preset) => (
            <Radio
              key={preset}
              value={preset}
              label={text(`keys.preset.${preset}`)}
              description={text(`keys.presetHint.${preset}`)}
              disabled={limited && (preset === 'read' || preset === 'full')}
            />
          ))}
        </Stack>
      </Radio.Group>
      {listed && (
        <ScopeList
          value={value}
          change={change}
          limited={limited}
          error={error}
          permissions={permissions}
        />
      )}
    </>
  );
}

/** Reading on the left, what goes beyond it on the right. */
function columnOf(scope: string): string {
  return scope.endsWith(':read') ? 'key-scope-read' : 'key-scope-write';
}

/** The names of the columns, where there are columns. */
function ColumnNames({ scopes }: { scopes: readonly string[] }) {
  const columns = new Set(scopes.map(columnOf));
  return (['key-scope-read', 'key-scope-write'] as const)
    .filter((column) => columns.has(column))
    .map((column) => (
      <Text key={column} size="xs" c="dimmed" className={column} visibleFrom="xs">
        {text(column === 'key-scope-read' ? 'keys.column.read' : 'keys.column.change')}
      </Text>
    ));
}

interface ScopeListProps extends KeyScopeChoiceProps {
  permissions: readonly string[];
}

/** The scopes by group, limited to the person's own permissions. */
function ScopeList({ value, change, limited, error, permissions }: ScopeListProps) {
  const isOpen = (scope: string) => !limited || isAllowedForTemplateKeys(scope);
  const groups = scopeGroups.map((group) => [group, scopesIn(group, permissions)] as const);
  return (
    <Checkbox.Group label={text('keys.scopes')} value={[...value]} onChange={change} error={error}>
      <Stack gap={24} mt="xs">
        {groups.map(
          ([group, scopes]) =>
            scopes.length > 0 && (
              <Fieldset
                key={group}
                variant="unstyled"
                m={0}
                legend={
                  <Text size="sm" fw={600}>
                    {text(`keys.group.${group}`)}
                  </Text>
                }
              >
                <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={10}>
                  {group !== 'send' && <ColumnNames scopes={scopes} />}
                  {scopes.map((scope) => (
                    <Checkbox
                      key={scope}
                      className={group === 'send' ? undefined : columnOf(scope)}
                      value={scope}
                      label={textOr(`keys.scope.${scope}`, scope)}
                      // Its color would be stronger than that of a label that can't be chosen.
                      description={isOpen(scope) ? scope : undefined}
                      disabled={!isOpen(scope)}
                    />
                  ))}
                </SimpleGrid>
              </Fieldset>
            ),
        )}
      </Stack>
    </Checkbox.Group>
  );
}

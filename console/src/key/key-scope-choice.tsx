import { Checkbox, Fieldset, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useAccount } from '../account/use-me.ts';
import { text, textOr } from '../texts/text.ts';
import {
  isAllowedForTemplateKeys,
  type KeyPreset,
  keyPresets,
  presetOf,
  scopeGroups,
  scopesIn,
  scopesOf,
} from './key-scopes.ts';

interface KeyScopeChoiceProps {
  value: readonly string[];
  change: (scopes: string[]) => void;
  /** The key is limited to templates. */
  limited: boolean;
  error: string | undefined;
}

/** What a key can do: a preset, or a choice from the list behind. */
export function KeyScopeChoice({ value, change, limited, error }: KeyScopeChoiceProps) {
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

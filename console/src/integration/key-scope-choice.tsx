import { Checkbox, Fieldset, SimpleGrid, Stack, Text } from '@mantine/core';
import { useAccount } from '../account/use-me.ts';
import { text, textOr } from '../texts/text.ts';
import { isAllowedForTemplateKeys, scopeGroups, scopesIn } from './key-scopes.ts';

interface KeyScopeChoiceProps {
  value: readonly string[];
  change: (scopes: string[]) => void;
  /** The key is limited to templates. */
  limited: boolean;
  error: string | undefined;
}

/** The scopes of a key, limited to the person's own permissions, sending first. */
export function KeyScopeChoice({ value, change, limited, error }: KeyScopeChoiceProps) {
  const { account } = useAccount();
  const groups = scopeGroups.map(
    (group) => [group, scopesIn(group, account?.permissions ?? [])] as const,
  );
  return (
    <Checkbox.Group
      label={text('keys.scopes')}
      description={limited ? text('keys.scopesLimited') : undefined}
      value={[...value]}
      onChange={change}
      error={error}
    >
      <Stack gap="xs" mt={6}>
        {groups.map(
          ([group, scopes]) =>
            scopes.length > 0 && (
              <Fieldset key={group} variant="unstyled" legend={<Legend group={group} />}>
                <SimpleGrid cols={group === 'send' ? 1 : { base: 1, xs: 2 }} spacing={6}>
                  {scopes.map((scope) => (
                    <Checkbox
                      key={scope}
                      value={scope}
                      label={scope}
                      description={textOr(`keys.scope.${scope}`, '') || undefined}
                      disabled={limited && !isAllowedForTemplateKeys(scope)}
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

function Legend({ group }: { group: (typeof scopeGroups)[number] }) {
  return (
    <Text size="xs" fw={600}>
      {text(`keys.group.${group}`)}
    </Text>
  );
}

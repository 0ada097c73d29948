import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Input,
  NativeSelect,
  Paper,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { SignInProvider } from '../api/management.generated.ts';
import { answerOf, api, ifMatch, taggedAnswerOf } from '../api/management.ts';
import { isNotFound, reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { CopyField } from '../components/copy-field.tsx';
import { Icon } from '../components/icon.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { text } from '../texts/text.ts';

interface StoredProvider {
  readonly value: SignInProvider;
  readonly tag: string | undefined;
}

/** The account's provider of OpenID Connect. */
export function SignInProviderSettings() {
  const accountId = useAccountId();
  const may = useMay();
  const params = { path: { accountId } };
  const provider = useQuery({
    queryKey: ['sign-in-provider', accountId],
    queryFn: async (): Promise<StoredProvider | null> => {
      try {
        return await taggedAnswerOf(api.GET('/accounts/{accountId}/sign-in-provider', { params }));
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
    enabled: may('users:write'),
  });
  if (!may('users:write')) return null;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="sign-in-provider">
      <Title order={2} id="sign-in-provider">
        {text('provider.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {text('provider.hint')}
      </Text>
      <ProblemAlert error={provider.error} retry={() => provider.refetch()} />
      {provider.data !== undefined && (
        <ProviderForm key={provider.data?.tag ?? 'new'} stored={provider.data} />
      )}
    </Paper>
  );
}

function ProviderForm({ stored }: { stored: StoredProvider | null }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const params = { path: { accountId } };
  const [editing, setEditing] = useState(stored !== null);
  const [initial] = useState(() => ({
    name: stored?.value.name ?? '',
    issuer: stored?.value.issuer ?? '',
    clientId: stored?.value.clientId ?? '',
    clientSecret: '',
    trustEmail: stored?.value.trustEmail ?? false,
    members: stored?.value.members.map(toRule) ?? [newRule],
  }));
  const [values, setValues] = useState(initial);
  const change = (changed: Partial<typeof values>) => setValues({ ...values, ...changed });
  const reload = () => client.invalidateQueries({ queryKey: ['sign-in-provider', accountId] });
  const precondition =
    stored === null ? { headers: { 'if-none-match': '*' } } : ifMatch(stored.tag);
  const save = useAction({
    mutationFn: () => {
      const { clientSecret, members, ...others } = values;
      const body = {
        ...others,
        ...(clientSecret === '' ? {} : { clientSecret }),
        members: members.filter(({ who }) => who !== '').map(toMember),
      };
      return answerOf(
        api.PUT('/accounts/{accountId}/sign-in-provider', { params, body, ...precondition }),
      );
    },
    async onSuccess() {
      showNotice(text('provider.saved'));
      await reload();
    },
  });
  // Another issuer or client never gets the stored secret.
  const keepsSecret =
    stored?.value.issuer === values.issuer && stored.value.clientId === values.clientId;
  const callbackUrl = `${location.origin}/sign-in/oidc/callback/${accountId}`;

  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate();
  }

  const field = (name: 'name' | 'issuer' | 'clientId' | 'clientSecret') => ({
    label: text(`provider.${name}`),
    value: values[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      change({ [name]: event.currentTarget.value }),
    error: reasonFor(save.error, name),
  });

  if (!editing)
    return (
      <Button variant="default" onClick={() => setEditing(true)}>
        {text('provider.setUp')}
      </Button>
    );
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Input.Wrapper
          labelElement="div"
          label={text('provider.callback')}
          description={text('provider.callbackHint')}
        >
          <CopyField value={callbackUrl} label={text('provider.callback')} />
        </Input.Wrapper>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput {...field('name')} required />
          <TextInput {...field('issuer')} required placeholder="https://login.example.com" />
          <TextInput {...field('clientId')} required />
          <PasswordInput
            {...field('clientSecret')}
            required={!keepsSecret}
            placeholder={keepsSecret ? text('provider.secretKept') : ''}
          />
        </SimpleGrid>
        <MemberRules
          rules={values.members}
          change={(members) => change({ members })}
          error={reasonFor(save.error, 'members')}
        />
        <Checkbox
          label={text('provider.trustEmail')}
          checked={values.trustEmail}
          onChange={(event) => change({ trustEmail: event.currentTarget.checked })}
        />
        {stored !== null && (
          <Input.Wrapper labelElement="div" label={text('provider.start')}>
            <CopyField value={stored.value.signInUrl} label={text('provider.start')} />
          </Input.Wrapper>
        )}
        <ProblemAlert error={save.error} />
        <Group>
          <SaveButton changed={values !== initial} saving={save.isPending} />
          {stored !== null && (
            <RemoveButton
              title={text('provider.removeTitle')}
              consequence={text('provider.removeConsequence')}
              name={stored.value.name}
              remove={async () => {
                await answerOf(
                  api.DELETE('/accounts/{accountId}/sign-in-provider', { params, ...precondition }),
                );
                await reload();
              }}
            />
          )}
        </Group>
      </Stack>
    </form>
  );
}

type Member = SignInProvider['members'][number];

/** A rule for members as it is edited. */
interface Rule {
  readonly role: Member['role'];
  readonly by: 'group' | 'domain';
  /** The group or domain. */
  readonly who: string;
}

const roles = ['owner', 'developer', 'marketer', 'viewer'] as const;
const newRule: Rule = { role: 'viewer', by: 'group', who: '' };

function toRule({ role, group, domain }: Member): Rule {
  return !domain ? { role, by: 'group', who: group ?? '' } : { role, by: 'domain', who: domain };
}

function toMember({ role, by, who }: Rule): Member {
  return { role, [by]: who } as Member;
}

interface MemberRulesProps {
  rules: readonly Rule[];
  change: (rules: Rule[]) => void;
  error: string | undefined;
}

/** Which groups and domains get which role. */
function MemberRules({ rules, change, error }: MemberRulesProps) {
  const set = (index: number, part: Partial<Rule>) =>
    change(rules.map((rule, at) => (at === index ? { ...rule, ...part } : rule)));
  return (
    <Input.Wrapper
      labelElement="div"
      label={text('provider.members')}
      description={text('provider.membersHint')}
      error={error}
    >
      <Stack gap="xs" mt={4}>
        {rules.map(({ role, by, who }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity
          <Group key={index} gap="xs" wrap="nowrap">
            <NativeSelect
              aria-label={text('provider.rule.role', { number: index + 1 })}
              data={roles.map((value) => ({ value, label: text(`role.${value}`) }))}
              value={role}
              onChange={(event) => set(index, { role: event.currentTarget.value as Rule['role'] })}
            />
            <NativeSelect
              aria-label={text('provider.rule.by', { number: index + 1 })}
              data={[
                { value: 'group', label: text('provider.group') },
                { value: 'domain', label: text('provider.domain') },
              ]}
              value={by}
              onChange={(event) => set(index, { by: event.currentTarget.value as Rule['by'] })}
            />
            <TextInput
              flex={1}
              aria-label={text('provider.rule.who', { number: index + 1 })}
              placeholder={by === 'group' ? 'engineering' : 'example.com'}
              value={who}
              onChange={(event) => set(index, { who: event.currentTarget.value.trim() })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={text('provider.rule.remove', { number: index + 1 })}
              onClick={() => change(rules.filter((_, at) => at !== index))}
            >
              <Icon name="trash" />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<Icon name="plus" size={16} />}
            onClick={() => change([...rules, newRule])}
          >
            {text('provider.rule.add')}
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}

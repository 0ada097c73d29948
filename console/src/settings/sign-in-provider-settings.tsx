import {
  Button,
  Checkbox,
  Group,
  Paper,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { SignInProvider } from '../api/management.generated.ts';
import { answerOf, api, ifMatch, taggedAnswerOf } from '../api/management.ts';
import { ApiProblem, reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { CopyField } from '../components/copy-field.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
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
        if (error instanceof ApiProblem && error.status === 404) return null;
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
  const [values, setValues] = useState(() => ({
    name: stored?.value.name ?? '',
    issuer: stored?.value.issuer ?? '',
    clientId: stored?.value.clientId ?? '',
    clientSecret: '',
    trustEmail: stored?.value.trustEmail ?? false,
    members: (stored?.value.members ?? []).map(toLine).join('\n'),
  }));
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
        members: members.split('\n').filter(Boolean).map(toRule),
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

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput {...field('name')} required />
          <TextInput {...field('issuer')} required placeholder="https://login.example.com" />
          <TextInput {...field('clientId')} required />
          <PasswordInput
            {...field('clientSecret')}
            required={stored === null}
            placeholder={stored === null ? '' : text('provider.secretKept')}
          />
        </SimpleGrid>
        <Textarea
          label={text('provider.members')}
          description={text('provider.membersHint')}
          placeholder={'developer engineering\nviewer @example.com'}
          autosize
          minRows={2}
          value={values.members}
          onChange={(event) => change({ members: event.currentTarget.value })}
          error={reasonFor(save.error, 'members')}
        />
        <Checkbox
          label={text('provider.trustEmail')}
          checked={values.trustEmail}
          onChange={(event) => change({ trustEmail: event.currentTarget.checked })}
        />
        <Text size="sm">{text('provider.callback')}</Text>
        <CopyField value={callbackUrl} label={text('provider.callback')} />
        {stored !== null && (
          <>
            <Text size="sm">{text('provider.start')}</Text>
            <CopyField value={stored.value.signInUrl} label={text('provider.start')} />
          </>
        )}
        <ProblemAlert error={save.error} />
        <Group>
          <Button type="submit" variant="default" loading={save.isPending}>
            {text('provider.save')}
          </Button>
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

function toLine({ role, group, domain }: SignInProvider['members'][number]): string {
  return `${role} ${group ?? `@${domain}`}`;
}

/** `role group` or `role @domain`; the API says what is wrong. */
function toRule(line: string) {
  const [, role = '', who = ''] = /^\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  const member = who.startsWith('@') ? { domain: who.slice(1) } : { group: who };
  return { role: role as SignInProvider['members'][number]['role'], ...member };
}

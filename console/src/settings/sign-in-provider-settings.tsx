import {
  Button,
  Checkbox,
  Group,
  Input,
  NativeSelect,
  PasswordInput,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { deleteUnchanged, putUnchanged } from '../api/if-unchanged.ts';
import type { SignInProvider } from '../api/management.generated.ts';
import { api, ifNone } from '../api/management.ts';
import { isNotFound, reasonFor } from '../api/problem.ts';
import { keyOf } from '../api/use-get.ts';
import { choicesOf } from '../components/choices-of.ts';
import { CopyField } from '../components/copy-field.tsx';
import { EditedRows } from '../components/edited-rows.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

/** The account's provider of OpenID Connect. */
export function SignInProviderSettings() {
  const accountId = useAccountId();
  const may = useMay();
  const provider = useQuery({
    queryKey: keyOf(providerPath, { accountId }),
    queryFn: async (): Promise<SignInProvider | null> => {
      try {
        return await api.get(providerPath, { accountId });
      } catch (error) {
        if (isNotFound(error)) return null;
        throw error;
      }
    },
    enabled: may('users:write'),
  });
  if (!may('users:write')) return null;
  return (
    <SectionCard id="sign-in-provider" title={text('provider.title')} hint={text('provider.hint')}>
      <ProblemAlert error={provider.error} retry={() => provider.refetch()} />
      {provider.data !== undefined && <ProviderForm provider={provider.data} />}
    </SectionCard>
  );
}

const providerPath = '/accounts/{accountId}/sign-in-provider';

/** The members that are edited. */
function settingsOf({ name, issuer, clientId, trustEmail, members }: SignInProvider) {
  return { name, issuer, clientId, trustEmail, members };
}

function ProviderForm({ provider }: { provider: SignInProvider | null }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const params = { accountId };
  const reload = (now: SignInProvider | null) =>
    client.setQueryData(keyOf(providerPath, params), now);
  const [setsUp, setSetsUp] = useState(false);
  const { values, change, changed, stored, saving, error, submit, reset } = useForm({
    stored: provider,
    toValues: toInput,
    async save({ values: { clientSecret, members, ...others }, stored }) {
      const body = {
        ...others,
        ...(clientSecret === '' ? {} : { clientSecret }),
        members: members.flatMap(toMember),
      };
      const now = await (stored === null
        ? api.put(providerPath, params, body, ifNone)
        : putUnchanged(providerPath, params, settingsOf(stored), body));
      showNotice(text('provider.saved'));
      reload(now);
      return now;
    },
  });
  // Another issuer or client never gets the stored secret.
  const keepsSecret = stored?.issuer === values.issuer && stored.clientId === values.clientId;
  const callbackUrl = `${location.origin}/sign-in/oidc/callback/${accountId}`;

  const field = (name: 'name' | 'issuer' | 'clientId' | 'clientSecret') => ({
    label: text(`provider.${name}`),
    value: values[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      change({ [name]: event.currentTarget.value }),
    error: reasonFor(error, name),
  });

  if (stored === null && !setsUp)
    return (
      <Button variant="default" onClick={() => setSetsUp(true)}>
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
          error={reasonFor(error, 'members')}
        />
        <Checkbox
          label={text('provider.trustEmail')}
          checked={values.trustEmail}
          onChange={(event) => change({ trustEmail: event.currentTarget.checked })}
        />
        {stored !== null && (
          <Input.Wrapper labelElement="div" label={text('provider.start')}>
            <CopyField value={stored.signInUrl} label={text('provider.start')} />
          </Input.Wrapper>
        )}
        <ProblemAlert error={error} onRefreshed={reset} />
        <Group>
          <SaveButton changed={changed} saving={saving} />
          {stored !== null && (
            <RemoveButton
              title={text('provider.removeTitle')}
              consequence={text('provider.removeConsequence')}
              name={stored.name}
              remove={async () => {
                await deleteUnchanged(providerPath, params, settingsOf(stored));
                setSetsUp(false);
                reset();
                reload(null);
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

/** The member of a rule, whose group can contain spaces; none if it is empty. */
function toMember({ role, by, who }: Rule): Member[] {
  return who.trim() === '' ? [] : [{ role, [by]: who.trim() } as Member];
}

/** The fields of the form; the stored secret is never read. */
function toInput(provider: SignInProvider | null) {
  const { name = '', issuer = '', clientId = '', trustEmail = false } = provider ?? {};
  const members = provider?.members.map(toRule) ?? [newRule];
  return { name, issuer, clientId, clientSecret: '', trustEmail, members };
}

interface MemberRulesProps {
  rules: readonly Rule[];
  change: (rules: Rule[]) => void;
  error: string | undefined;
}

/** Which groups and domains get which role. */
function MemberRules({ rules, change, error }: MemberRulesProps) {
  return (
    <Input.Wrapper
      labelElement="div"
      label={text('provider.members')}
      description={text('provider.membersHint')}
      error={error}
    >
      <EditedRows
        rows={rules}
        change={change}
        blank={newRule}
        add={text('provider.rule.add')}
        remove={(number) => text('provider.rule.remove', { number })}
      >
        {({ role, by, who }, set, number) => (
          <>
            <NativeSelect
              aria-label={text('provider.rule.role', { number })}
              data={choicesOf(roles, (value) => text(`role.${value}`))}
              value={role}
              onChange={(event) => set({ role: event.currentTarget.value as Rule['role'] })}
            />
            <NativeSelect
              aria-label={text('provider.rule.by', { number })}
              data={[
                { value: 'group', label: text('provider.group') },
                { value: 'domain', label: text('provider.domain') },
              ]}
              value={by}
              onChange={(event) => set({ by: event.currentTarget.value as Rule['by'] })}
            />
            <TextInput
              flex={1}
              aria-label={text('provider.rule.who', { number })}
              placeholder={by === 'group' ? 'engineering' : 'example.com'}
              value={who}
              onChange={(event) => set({ who: event.currentTarget.value })}
            />
          </>
        )}
      </EditedRows>
    </Input.Wrapper>
  );
}

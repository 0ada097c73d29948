import { Button, Group, NativeSelect, PasswordInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { User } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { reasonFor } from '../api/problem.ts';
import { makeNew, unlessChanged } from '../api/unless-changed.ts';
import { useAction } from '../api/use-action.ts';
import { Field } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { ListBody } from '../parts/list-body.tsx';
import { PageHeading } from '../parts/page-heading.tsx';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { text } from '../texts/text.ts';
import { DemoteDialog } from './demote-dialog.tsx';
import { endsKeys, KeepKeys, useKeepKeys } from './keep-keys.tsx';

type Role = User['role'];

const roles: readonly Role[] = ['owner', 'developer', 'marketer', 'viewer', 'service'];

const roleChoices = roles.map((value) => ({ value, label: text(`role.${value}`) }));

/** Who belongs to the account, and as what. */
export function TeamPage() {
  const accountId = useAccountId();
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  const pages = usePages<User>({
    queryKey: ['users', accountId],
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/users', {
          params: { path: { accountId }, query: { cursor } },
        }),
      ),
  });
  return (
    <>
      <PageHeading title={text('team.title')} hint={text('team.hint')}>
        {may('users:write') && (
          <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>
            {text('team.add')}
          </Button>
        )}
      </PageHeading>
      <ListBody
        label={text('team.title')}
        pages={pages}
        idOf={({ email }) => email}
        empty={{ title: text('team.title'), hint: text('team.hint') }}
        columns={[
          { title: text('team.name'), cell: ({ name }) => name },
          { title: text('team.email'), cell: ({ email }) => email },
          { title: text('team.role'), cell: (user) => <RoleChoice user={user} /> },
          {
            title: text('team.signIn'),
            cell: (user) => text(signInOf(user)),
          },
          { title: text('actions'), actions: true, cell: (user) => <RemoveUser user={user} /> },
        ]}
      />
      <UserDialog opened={opened} close={dialog.close} />
    </>
  );
}

function signInOf({ disabled, hasPassword, hasSecondFactor }: User) {
  if (disabled) return 'team.disabled';
  if (!hasPassword) return 'team.noPassword';
  return hasSecondFactor ? 'team.secondFactor' : 'team.password';
}

const it = '/accounts/{accountId}/users/{email}';

function RoleChoice({ user }: { user: User }) {
  const accountId = useAccountId();
  const params = { path: { accountId, email: user.email } };
  const may = useMay();
  const client = useQueryClient();
  const keys = useKeepKeys(user);
  const [lower, setLower] = useState<Role>();
  const change = useAction({
    mutationFn: (role: Role) =>
      unlessChanged(
        { role: user.role },
        () => api.GET(it, { params }),
        (precondition) =>
          api.PUT(it, {
            params: { ...params, query: endsKeys(user.role, role) ? keys.query : {} },
            body: { role },
            ...precondition,
          }),
      ),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: ['users', accountId] });
      await client.invalidateQueries({ queryKey: ['keys', accountId] });
    },
  });
  if (!may('users:write')) return <>{text(`role.${user.role}`)}</>;
  return (
    <>
      <NativeSelect
        aria-label={text('team.roleOf', { name: user.name })}
        // Columns of long names would leave it too little for its words.
        miw="9rem"
        value={user.role}
        disabled={change.isPending}
        onChange={(event) => {
          const role = event.currentTarget.value as Role;
          if (keys.count > 0 && endsKeys(user.role, role)) setLower(role);
          else change.mutate(role);
        }}
        data={roleChoices}
      />
      <DemoteDialog
        name={user.name}
        keys={keys}
        opened={lower !== undefined}
        close={() => setLower(undefined)}
        confirm={async () => lower && change.mutateAsync(lower)}
      />
      <ProblemAlert error={change.error} renewed={change.reset} />
    </>
  );
}

function RemoveUser({ user }: { user: User }) {
  const accountId = useAccountId();
  const may = useMay();
  const client = useQueryClient();
  const keys = useKeepKeys(user);
  if (!may('users:write')) return null;
  const params = { path: { accountId, email: user.email } };
  return (
    <RemoveButton
      title={text('team.removeTitle')}
      consequence={text('team.removeConsequence')}
      name={user.email}
      remove={async () => {
        const { name, role } = user;
        await unlessChanged(
          { name, role },
          () => api.GET(it, { params }),
          (precondition) =>
            api.DELETE(it, { params: { ...params, query: keys.query }, ...precondition }),
        );
        await client.invalidateQueries({ queryKey: ['users', accountId] });
        await client.invalidateQueries({ queryKey: ['keys', accountId] });
      }}
    >
      <KeepKeys keys={keys} />
    </RemoveButton>
  );
}

function UserDialog(props: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [role, setRole] = useState<Role>('developer');

  async function submit() {
    await makeNew('email', (precondition) =>
      api.PUT(it, {
        params: { path: { accountId, email } },
        body: { role, ...(name !== '' && { name }), ...(password !== '' && { password }) },
        ...precondition,
      }),
    );
    await client.invalidateQueries({ queryKey: ['users', accountId] });
  }

  return (
    <FormDialog {...props} title={text('team.add')} action={text('team.add')} submit={submit}>
      {(error) => (
        <>
          <Field
            field="email"
            label={text('team.email')}
            type="email"
            required
            value={email}
            change={setEmail}
            error={error}
            data-autofocus
          />
          <Field
            field="name"
            label={text('team.name')}
            description={text('team.nameHint')}
            value={name}
            change={setName}
            error={error}
          />
          <PasswordInput
            label={text('team.firstPassword')}
            description={text('team.firstPasswordHint')}
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={reasonFor(error, 'password')}
          />
          <Group grow>
            <NativeSelect
              label={text('team.role')}
              description={role === 'service' ? text('role.serviceHint') : undefined}
              value={role}
              onChange={(event) => setRole(event.currentTarget.value as Role)}
              data={roleChoices}
            />
          </Group>
        </>
      )}
    </FormDialog>
  );
}

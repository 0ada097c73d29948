import { Alert, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { createNew, deleteUnchanged, putUnchanged } from '../api/if-unchanged.ts';
import type { User } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { Field } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { ListBody } from '../components/list-body.tsx';
import { Note } from '../components/note.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { text } from '../texts/text.ts';
import { KeyTransferChoice, revokesKeys, useKeyTransfer } from './key-transfer.tsx';

type Role = User['role'];

const roles: readonly Role[] = ['owner', 'developer', 'marketer', 'viewer', 'service'];

const roleChoices = choicesOf(roles, (value) => text(`role.${value}`));

/** The users of the account and their roles. */
export function TeamPage() {
  const { button: add, dialog } = useAddDialog(text('team.invite'), 'users:write', 'invite');
  const { data: me } = useMe();
  const [failure, setFailure] = useState<RoleFailure>();
  const pages = usePages('/accounts/{accountId}/users');
  const owners = pages.items.filter(({ role, invitation }) => role === 'owner' && !invitation);
  const isOnlyOwner = ({ email }: User) =>
    !pages.hasNextPage && owners.length === 1 && owners[0]?.email === email;
  return (
    <>
      <PageHeading title={text('nav.team')} hint={text('team.hint')}>
        {add}
      </PageHeading>
      <ListBody
        label={text('nav.team')}
        pages={pages}
        idOf={({ email }) => email}
        empty={{ title: text('nav.team'), hint: text('team.hint') }}
        below={({ email }) =>
          failure?.email === email && (
            <ProblemAlert
              error={failure.error}
              conflictTitle={text('team.roleConflict')}
              onRefreshed={() => setFailure(undefined)}
            />
          )
        }
        columns={[
          {
            title: text('team.name'),
            cell: ({ name, email }) => (
              <div>
                {name || email} {email === me?.person?.email && <Tag>{text('team.you')}</Tag>}
                {name !== '' && <Note>{email}</Note>}
              </div>
            ),
          },
          {
            title: text('team.role'),
            cell: (user) => (
              <RoleChoice user={user} isOnlyOwner={isOnlyOwner(user)} fail={setFailure} />
            ),
          },
          { title: text('team.status'), cell: (user) => <UserStatus user={user} /> },
          {
            title: text('team.signIn'),
            cell: (user) => user.invitation === null && text(signInOf(user)),
          },
          {
            title: text('actions'),
            actions: true,
            cell: (user) =>
              !isOnlyOwner(user) && (
                <Group gap={4} wrap="nowrap" justify="flex-end">
                  {user.invitation !== null && <ResendInvitation user={user} />}
                  <RemoveUser user={user} />
                </Group>
              ),
          },
        ]}
      />
      <Stack component="section" aria-label={text('team.roles')} gap={4} mt="lg">
        {roles.map((role) => (
          <Note key={role} size="sm">
            <b>{text(`role.${role}`)}</b>: {text(`role.${role}Hint`)}
          </Note>
        ))}
      </Stack>
      <InviteDialog {...dialog} />
    </>
  );
}

function UserStatus({ user }: { user: User }) {
  if (user.invitation === null)
    return (
      <Tag color={user.disabled ? 'gray' : 'green'}>
        {text(user.disabled ? 'team.disabled' : 'team.active')}
      </Tag>
    );
  const { invitedBy, expiresAt } = user.invitation;
  const isExpired = Date.parse(expiresAt) < Date.now();
  return (
    <div>
      <Tag color={isExpired ? 'red' : 'yellow'}>
        {text(isExpired ? 'team.invitationExpired' : 'team.invitationPending')}
      </Tag>
      <Text size="xs" c="dimmed" title={text('team.invitedBy', { by: invitedBy })}>
        {text(isExpired ? 'team.expired' : 'team.expires')}{' '}
        <TimeText value={expiresAt} as="distance" />
      </Text>
    </div>
  );
}

function signInOf({ hasPassword, hasSecondFactor }: User) {
  if (!hasPassword) return 'team.noPassword';
  return hasSecondFactor ? 'team.secondFactor' : 'team.password';
}

const userPath = '/accounts/{accountId}/users/{email}';

/** Why the role of a user couldn't be changed. */
interface RoleFailure {
  readonly email: string;
  readonly error: unknown;
}

interface RoleChoiceProps {
  user: User;
  /** An account needs one. */
  isOnlyOwner: boolean;
  /** Shows a failure below the row; undefined clears it. */
  fail: (failure: RoleFailure | undefined) => void;
}

function RoleChoice({ user, isOnlyOwner, fail }: RoleChoiceProps) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('users', 'keys');
  const keys = useKeyTransfer(user);
  const [pendingRole, setPendingRole] = useState<Role>();
  const change = useAction({
    mutationFn: (role: Role) =>
      putUnchanged(
        userPath,
        { accountId, email: user.email },
        { role: user.role },
        { role },
        revokesKeys(user.role, role) ? keys.query : {},
      ),
    onMutate: () => fail(undefined),
    onError: (error) => fail({ email: user.email, error }),
    onSettled: async () => {
      await refresh();
    },
  });
  if (!may('users:write')) return <>{text(`role.${user.role}`)}</>;
  if (isOnlyOwner)
    return (
      <div title={text('team.lastOwnerHint')}>
        {text('role.owner')}
        <Note>{text('team.lastOwner')}</Note>
      </div>
    );
  return (
    <>
      <NativeSelect
        aria-label={text('team.roleOf', { name: user.name || user.email })}
        // Otherwise long names would squeeze this column.
        w="9.5rem"
        value={user.role}
        disabled={change.isPending || !keys.isLoaded}
        onChange={(event) => {
          const role = event.currentTarget.value as Role;
          if (keys.count > 0 && revokesKeys(user.role, role)) setPendingRole(role);
          else change.mutate(role);
        }}
        data={roleChoices}
      />
      <FormDialog
        title={text('team.demoteTitle', {
          name: user.name || user.email,
          from: text(`role.${user.role}`),
          to: text(`role.${pendingRole ?? user.role}`),
        })}
        action={text('team.demote')}
        opened={pendingRole !== undefined}
        close={() => setPendingRole(undefined)}
        submit={async () => pendingRole && change.mutateAsync(pendingRole)}
      >
        {() => <KeyTransferChoice keys={keys} />}
      </FormDialog>
    </>
  );
}

function ResendInvitation({ user }: { user: User }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('users');
  const params = { accountId, email: user.email };
  const resend = useAction({
    mutationFn: () => api.post('/accounts/{accountId}/users/{email}/invitation', params),
    onSuccess: refresh,
  });
  if (!may('users:write')) return null;
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        loading={resend.isPending}
        disabled={resend.isSuccess}
        onClick={() => resend.mutate()}
      >
        {text(resend.isSuccess ? 'team.resent' : 'team.resend')}
      </Button>
      <ProblemAlert error={resend.error} onRefreshed={resend.reset} />
    </>
  );
}

function RemoveUser({ user }: { user: User }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('users', 'keys');
  const keys = useKeyTransfer(user);
  const dialog = useDialog();
  if (!may('users:write') || !keys.isLoaded) return null;
  async function remove() {
    const { email, name, role } = user;
    await deleteUnchanged(userPath, { accountId, email }, { name, role }, keys.query);
    await refresh();
  }
  const isInvited = user.invitation !== null;
  const action = text(isInvited ? 'team.withdraw' : 'remove');
  return (
    <>
      <RowMenu
        name={user.name || user.email}
        items={[{ label: action, color: 'red', choose: dialog.open }]}
      />
      <ConfirmByName
        {...dialog.props}
        title={text(isInvited ? 'team.withdrawTitle' : 'team.removeTitle')}
        consequence={text(isInvited ? 'team.withdrawConsequence' : 'team.removeConsequence')}
        name={user.email}
        action={action}
        {...(isInvited && { dismiss: text('team.withdrawKeep') })}
        confirm={remove}
      >
        {!isInvited && <KeyTransferChoice keys={keys} />}
      </ConfirmByName>
    </>
  );
}

function InviteDialog(props: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const refresh = useRefresh('users');
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const { data: settings } = useSettings();

  async function submit() {
    await createNew(
      'email',
      userPath,
      { accountId, email },
      { role, ...(name !== '' && { name }) },
    );
    await refresh();
  }

  return (
    <FormDialog {...props} title={text('team.invite')} action={text('team.send')} submit={submit}>
      {settings?.systemMail === false && <Alert color="yellow">{text('team.noSystemMail')}</Alert>}
      <Field
        field="email"
        label={text('team.email')}
        type="email"
        required
        value={email}
        change={setEmail}
        data-autofocus
      />
      <Field
        field="name"
        label={text('team.name')}
        description={text('team.nameHint')}
        value={name}
        change={setName}
      />
      <Group grow>
        <NativeSelect
          label={text('team.role')}
          description={text(`role.${role}Hint`)}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
          data={roleChoices}
        />
      </Group>
    </FormDialog>
  );
}

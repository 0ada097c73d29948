import {
  Anchor,
  Button,
  Code,
  Paper,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { api } from '../api/management.ts';
import { ApiProblem, reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { CopyField } from '../components/copy-field.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { Gate } from './gate.tsx';
import type { PasswordWords } from './judge-password.ts';

/**
 * First-time setup: creates the owner with the code of the set-up link, or explains how to get one and how to open the
 * demo.
 */
export function SetUpPage({ code, demo }: { code: string | undefined; demo: boolean }) {
  const showsDemo = demo && code === undefined;
  useEffect(() => {
    document.title = `${text('setUp.title')} · Signalpost`;
  }, []);
  return (
    <Gate wide={showsDemo}>
      <Title order={1} ta="center" id="welcome">
        {text('setUp.title')}
      </Title>
      <Text c="dimmed" mb="lg" ta="center">
        {text(code === undefined ? 'setUp.hintLocked' : 'setUp.hint')}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: showsDemo ? 2 : 1 }} spacing="lg">
        {code === undefined ? <LinkHint /> : <OwnerForm code={code} />}
        {showsDemo && <DemoHint />}
      </SimpleGrid>
    </Gate>
  );
}

/** Without a code, only shows where the operator finds the link. */
function LinkHint() {
  return (
    <Paper withBorder p="lg" radius="md" component="section" aria-labelledby="own">
      <Stack gap="sm">
        <Title order={2} id="own">
          {text('setUp.own')}
        </Title>
        <Text size="sm">{text('setUp.linkHint')}</Text>
        <Text size="sm">{text('setUp.linkCommand')}</Text>
        <CopyField value={linkCommand} label={text('setUp.command')} />
      </Stack>
    </Paper>
  );
}

const judgedColors = { weak: 'var(--brand-bad)', good: 'var(--brand-good)' };

const linkCommand = 'bin/signalpost set-up-link';

const emptyOwner = { email: '', name: '', password: '', accountId: '1001', accountName: '' };

function OwnerForm({ code }: { code: string }) {
  const [owner, setOwner] = useState(emptyOwner);
  const createOwner = useAction({
    mutationFn: (body: typeof owner) => api.post('/set-up', {}, { code, ...body }),
    // A full page load, to drop all state from before signing in.
    onSuccess: ({ accountId }) => location.assign(`/console/${accountId}`),
  });
  const field = (name: keyof typeof emptyOwner) => ({
    label: text(`setUp.${name}`),
    value: owner[name],
    error: reasonFor(createOwner.error, name),
    onChange: (event: { currentTarget: { value: string } }) =>
      setOwner({ ...owner, [name]: event.currentTarget.value }),
    required: true,
    // All fields are.
    withAsterisk: false,
  });

  const isExpired =
    createOwner.error instanceof ApiProblem && createOwner.error.code === 'link-expired';
  const { words, judged } = usePasswordWords(owner.password, [
    owner.email,
    owner.name,
    owner.accountName,
  ]);

  // Only about the password that was sent.
  const refused =
    createOwner.variables?.password === owner.password
      ? reasonFor(createOwner.error, 'password')
      : undefined;

  function submit(event: FormEvent) {
    event.preventDefault();
    createOwner.mutate(owner);
  }

  return (
    <Paper withBorder p="xl" radius="md" component="section" aria-labelledby="welcome">
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput {...field('name')} autoComplete="name" />
          <TextInput {...field('email')} type="email" autoComplete="username" />
          <PasswordInput
            {...field('password')}
            // The words about a weak one say the same.
            error={judged === 'weak' ? refused !== undefined : refused}
            minLength={12}
            autoComplete="new-password"
            description={
              <Text span inherit aria-live="polite" c={judged && judgedColors[judged]}>
                {words}
              </Text>
            }
          />
          <TextInput
            {...field('accountName')}
            description={text('setUp.accountNameHint')}
            autoComplete="organization"
          />
          <TextInput
            {...field('accountId')}
            description={<AccountIdHint id={owner.accountId} />}
            pattern="[A-Za-z0-9_\-]{1,64}"
          />
          <ProblemAlert error={createOwner.error} />
          {isExpired && <CopyField value={linkCommand} label={text('setUp.command')} />}
          {createOwner.error instanceof ApiProblem && createOwner.error.status === 409 && (
            <Anchor component="a" size="sm" href="/sign-in?next=/console">
              {text('setUp.signIn')}
            </Anchor>
          )}
          <Button type="submit" mt="xs" loading={createOwner.isPending} disabled={isExpired}>
            {text('setUp.create')}
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}

/** What the ID is for, as it appears in URLs. */
function AccountIdHint({ id }: { id: string }) {
  return (
    <>
      {text('setUp.accountIdHint')} …/email/<b>{id}</b>/…
    </>
  );
}

function DemoHint() {
  return (
    <Paper withBorder p="lg" radius="md" component="section" aria-labelledby="demo">
      <Stack gap="sm" align="flex-start">
        <Title order={2} id="demo">
          {text('setUp.demo')}
        </Title>
        <Text size="sm">{text('setUp.demoHint')}</Text>
        <Text size="sm">
          {text('setUp.demoAddress')} <Code>owner@shop.test</Code>
        </Text>
        <Text size="sm">
          {text('setUp.demoPassword')} <Code>DEMO_OWNER_PASSWORD</Code> {text('setUp.demoFile')}{' '}
          <Code>demo.env</Code> {text('setUp.demoFolder')}
        </Text>
        <Button component="a" variant="default" href="/sign-in?next=/console">
          {text('setUp.demoSignIn')}
        </Button>
      </Stack>
    </Paper>
  );
}

const minLength = 12;

/** What to say about a new password while it is typed. The lists of common ones are loaded with the first character. */
function usePasswordWords(password: string, personal: readonly string[]): PasswordWords {
  const [judge, setJudge] = useState<typeof import('./judge-password.ts')>();
  const isTyped = password !== '';
  useEffect(() => {
    // Without them, the answer of the service says the same.
    if (isTyped) import('./judge-password.ts').then(setJudge, () => undefined);
  }, [isTyped]);
  const missing = minLength - [...password].length;
  if (!isTyped || (missing <= 0 && judge === undefined))
    return { words: text('setUp.passwordHint') };
  if (missing > 0)
    return {
      words: text(missing === 1 ? 'setUp.oneMissing' : 'setUp.missing', { count: String(missing) }),
    };
  return judge?.judgePassword(password, personal) ?? { words: '' };
}

import {
  Anchor,
  Button,
  Code,
  Container,
  Paper,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { answerOf, api } from '../api/management.ts';
import { ApiProblem, reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { text } from '../texts/text.ts';

/** The first start: make the owner, or look around in the demo first where there is one. */
export function SetUpPage({ demo }: { demo: boolean }) {
  useEffect(() => {
    document.title = `${text('setUp.title')} · Signalpost`;
  }, []);
  return (
    <Container component="main" size="md" py="xl">
      <Title order={1}>{text('setUp.title')}</Title>
      <Text c="dimmed" mb="lg">
        {text(demo ? 'setUp.hint' : 'setUp.hintAlone')}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: demo ? 2 : 1 }} spacing="lg">
        <OwnerForm />
        {demo && <DemoHint />}
      </SimpleGrid>
    </Container>
  );
}

const nothing = { email: '', name: '', password: '', accountId: '1001', accountName: '' };

function OwnerForm() {
  const [owner, setOwner] = useState(nothing);
  const make = useAction({
    mutationFn: () => answerOf(api.POST('/set-up', { body: owner })),
    // A new page, so that nothing of the stranger's is kept.
    onSuccess: ({ accountId }) => location.assign(`/console/${accountId}`),
  });
  const field = (name: keyof typeof nothing) => ({
    label: text(`setUp.${name}`),
    value: owner[name],
    error: reasonFor(make.error, name),
    onChange: (event: { currentTarget: { value: string } }) =>
      setOwner({ ...owner, [name]: event.currentTarget.value }),
    required: true,
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    make.mutate();
  }

  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="own">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Title order={2} id="own">
            {text('setUp.own')}
          </Title>
          <TextInput {...field('name')} autoComplete="name" />
          <TextInput {...field('email')} type="email" autoComplete="username" />
          <PasswordInput
            {...field('password')}
            minLength={12}
            autoComplete="new-password"
            description={text('setUp.passwordHint')}
          />
          <TextInput {...field('accountName')} autoComplete="organization" />
          <TextInput
            {...field('accountId')}
            description={text('setUp.accountIdHint')}
            pattern="[A-Za-z0-9_\-]{1,64}"
          />
          <ProblemAlert error={make.error} />
          {make.error instanceof ApiProblem && make.error.status === 409 && (
            <Anchor component="a" href="/sign-in?next=/console">
              {text('setUp.signIn')}
            </Anchor>
          )}
          <Button type="submit" loading={make.isPending}>
            {text('setUp.make')}
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}

function DemoHint() {
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="demo">
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
        <Anchor component="a" href="/sign-in?next=/console">
          {text('setUp.demoSignIn')}
        </Anchor>
      </Stack>
    </Paper>
  );
}

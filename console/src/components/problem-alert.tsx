import { Alert, Anchor, Button, Group, List, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { EditConflict, type MemberChange } from '../api/if-unchanged.ts';
import { ApiProblem, asSentence } from '../api/problem.ts';
import { restartSignIn, signInTabUrl } from '../api/sign-in.ts';
import { useAction } from '../api/use-action.ts';
import { describeValue } from '../format/describe-value.ts';
import { formatTime } from '../format/format-time.ts';
import { text, textOr } from '../texts/text.ts';

interface ProblemAlertProps {
  error: unknown;
  retry?: (() => void) | undefined;
  /** When what the page still shows arrived, in milliseconds since the epoch (`dataUpdatedAt`); 0: it shows nothing. */
  shownFrom?: number | undefined;
  /** The title of an error because of the state of the thing (409); default: that of the response. */
  conflictTitle?: string | undefined;
  /** Called once the page has reloaded after a concurrent change or removal. */
  onRefreshed?: (() => void) | undefined;
}

/** Shows an error with the next step, and invalid values whose fields don't show them. */
export function ProblemAlert(props: ProblemAlertProps) {
  const { error, retry, shownFrom = 0, conflictTitle, onRefreshed } = props;
  const client = useQueryClient();
  if (error === null || error === undefined) return null;
  const problem = error instanceof ApiProblem ? error : undefined;
  const ownTitle = problem === undefined ? text('problem.network') : problemTitle(problem);
  const title = problem?.status === 409 ? (conflictTitle ?? ownTitle) : ownTitle;
  if (problem?.isShownAtFields) return <FieldProblems problem={problem} />;
  if (problem?.status === 401) return <SessionExpired retry={retry} />;
  const isSignIn = typeof problem?.body.signInPath === 'string';
  const other = problem?.status === 412 || problem?.status === 404;

  async function refresh() {
    // A draft being edited must not change on reload.
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'draft' });
    onRefreshed?.();
  }

  return (
    <Alert
      color={isSignIn ? 'blue' : 'red'}
      className={isSignIn ? 'sign-in-required' : undefined}
      title={title}
      role="alert"
    >
      {problem === undefined ? (
        <Text size="sm">{text('problem.networkHint')}</Text>
      ) : (
        <ProblemDetails problem={problem} />
      )}
      {shownFrom > 0 && (
        <Text size="sm">
          {text('problem.shownFrom', { time: formatTime(new Date(shownFrom).toISOString()) })}
        </Text>
      )}
      <Group gap="xs">
        {retry !== undefined && isRetryable(problem) && (
          <Button size="compact-sm" variant="light" color="red" mt="xs" onClick={retry}>
            {text('problem.retry')}
          </Button>
        )}
        {other && onRefreshed !== undefined && (
          <Button size="compact-sm" variant="default" mt="xs" onClick={refresh}>
            {text('problem.renew')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** Leads to the first field that shows an error; says so in sight only if there are several. */
function FieldProblems({ problem }: { problem: ApiProblem }) {
  const shown = useRef<HTMLParagraphElement>(null);
  const { length } = problem.errors;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failed attempt leads there again
  useEffect(() => {
    shown.current?.closest('form')?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  return (
    <Text
      ref={shown}
      size="sm"
      c="var(--mantine-color-error)"
      role="alert"
      className={length === 1 ? 'visually-hidden' : undefined}
    >
      {text('problem.atFields', { count: length })}
    </Text>
  );
}

/** Stays on the page if leaving would lose input. */
function SessionExpired({ retry }: Pick<ProblemAlertProps, 'retry'>) {
  return (
    <Alert color="red" title={text('problem.session')} role="alert">
      <Text size="sm">{text('problem.sessionHint')}</Text>
      <Group gap="xs" mt="xs">
        <Button
          component="a"
          href={signInTabUrl}
          target="_blank"
          size="compact-sm"
          variant="default"
        >
          {text('problem.signIn')}
        </Button>
        {retry !== undefined && (
          <Button size="compact-sm" variant="light" color="red" onClick={retry}>
            {text('problem.retry')}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** Signs in again with the provider that the account asks for. */
function ProviderSignIn({ path }: { path: string }) {
  const leave = useAction({ mutationFn: () => restartSignIn(path) });
  return (
    <Button
      size="compact-sm"
      variant="default"
      mt="xs"
      loading={leave.isPending}
      onClick={() => leave.mutate()}
    >
      {text('problem.provider')}
    </Button>
  );
}

/** Whether a retry can help; it can't for forbidden or missing resources. */
function isRetryable(problem: ApiProblem | undefined): boolean {
  return problem?.status !== 403 && problem?.status !== 404;
}

/** Titles a missing resource by the error message, and a malformed id by its parameter. */
export function problemTitle({ status, title, message, errors }: ApiProblem): string {
  if (status !== 404) return title;
  return textOr(`missing.${errors[0]?.field}`, message);
}

function ProblemDetails({ problem }: { problem: ApiProblem }) {
  if (problem instanceof EditConflict) return <ChangeList changes={problem.changes} />;
  if (problem.status === 404)
    return problem.errors.length === 0 && <Text size="sm">{text('problem.gone')}</Text>;
  // The other errors already say who has permission.
  if (problem.body.permission !== undefined) return <Text size="sm">{text('problem.role')}</Text>;
  return (
    <>
      {problem.message !== problemTitle(problem) && (
        <Text size="sm">{asSentence(problem.message)}</Text>
      )}
      {problem.code === 'second-factor-required' && (
        <Anchor href="/me/second-factor" size="sm" underline="always">
          {text('problem.secondFactor')}
        </Anchor>
      )}
      {typeof problem.body.signInPath === 'string' && (
        <ProviderSignIn path={problem.body.signInPath} />
      )}
      {problem.status === 412 && <Text size="sm">{text('problem.notSaved')}</Text>}
      {problem.errors.length > 1 && (
        <List size="sm" mt={4}>
          {problem.errors.map(({ field, reason }) => (
            <List.Item key={`${field} ${reason}`}>
              <strong>{field}</strong> {reason}
            </List.Item>
          ))}
        </List>
      )}
      {problem.status >= 500 && problem.requestId !== undefined && (
        <Text size="xs" mt={4}>
          {text('problem.requestId', { id: problem.requestId })}
        </Text>
      )}
    </>
  );
}

/** Concurrent changes: each member with its previous and current value. */
function ChangeList({ changes }: { changes: readonly MemberChange[] }) {
  return (
    <>
      <List size="sm">
        {changes.map(({ name, seen, now }) => (
          <List.Item key={name} className="breakable">
            {text('problem.change', {
              name: textOr(`member.${name}`, name),
              seen: describeValue(seen),
              now: describeValue(now),
            })}
          </List.Item>
        ))}
      </List>
      <Text size="sm">{text('problem.notSaved')}</Text>
    </>
  );
}

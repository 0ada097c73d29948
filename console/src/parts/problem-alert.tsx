import { Alert, Button, List, Text } from '@mantine/core';
import { ApiProblem } from '../api/problem.ts';
import { text } from '../texts/text.ts';

/** Says what went wrong, with every value that was refused, and offers to try again. */
export function ProblemAlert({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === null || error === undefined) return null;
  const problem = error instanceof ApiProblem ? error : undefined;
  const title = problem === undefined ? text('problem.network') : problem.title;
  return (
    <Alert color="red" title={title} role="alert">
      {problem === undefined ? (
        <Text size="sm">{text('problem.networkHint')}</Text>
      ) : (
        <ProblemDetails problem={problem} />
      )}
      {retry !== undefined && (
        <Button size="compact-sm" variant="light" color="red" mt="xs" onClick={retry}>
          {text('problem.retry')}
        </Button>
      )}
    </Alert>
  );
}

function ProblemDetails({ problem }: { problem: ApiProblem }) {
  return (
    <>
      {problem.message !== problem.title && <Text size="sm">{problem.message}</Text>}
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

import { Alert, List } from '@mantine/core';
import type { DomainDetail } from '../api/management.generated.ts';
import { text } from '../texts/text.ts';

/** The settings that are missing for the records, in one notice. */
export function DomainProblems({ domain: { problems, state } }: { domain: DomainDetail }) {
  const [first] = problems;
  if (first === undefined) return null;
  const isVerified = state === 'verified';
  if (problems.length === 1)
    return (
      <Alert color="yellow" title={first.sentence}>
        {isVerified ? undefined : first.nextStep}
      </Alert>
    );
  return (
    <Alert color="yellow" title={text('domains.incomplete')}>
      <List size="sm">
        {problems.map(({ setting, sentence, nextStep }) => (
          <List.Item key={setting}>
            {sentence} {!isVerified && nextStep}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

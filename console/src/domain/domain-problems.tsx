import { Alert, List, Text } from '@mantine/core';
import type { DomainDetail } from '../api/management.generated.ts';
import { text } from '../texts/text.ts';
import { withCode } from './with-code.tsx';

interface DomainProblemsProps {
  domain: DomainDetail;
  /** The records can be published first. */
  quiet?: boolean;
}

/** The settings that are missing for the records, in one notice. */
export function DomainProblems({ domain: { problems, state }, quiet }: DomainProblemsProps) {
  const [first] = problems;
  if (first === undefined) return null;
  const isVerified = state === 'verified';
  if (quiet)
    return (
      <Text size="sm" c="dimmed">
        {withCode(first.sentence)} {!isVerified && withCode(first.nextStep)}
      </Text>
    );
  if (problems.length === 1)
    return (
      <Alert color="yellow" title={withCode(first.sentence)}>
        {isVerified ? undefined : withCode(first.nextStep)}
      </Alert>
    );
  return (
    <Alert color="yellow" title={text('domains.incomplete')}>
      <List size="sm">
        {problems.map(({ setting, sentence, nextStep }) => (
          <List.Item key={setting}>
            {withCode(sentence)} {!isVerified && withCode(nextStep)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

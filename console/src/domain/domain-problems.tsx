import { Alert, Code, List } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DomainDetail } from '../api/management.generated.ts';
import { text } from '../texts/text.ts';

/** Such as `PUBLIC_URL` or `DELIVERY=direct`. */
const setting = /\b([A-Z]+(?:_[A-Z]+)+|[A-Z]+=\w+)\b/;

/** A sentence with the names of settings as code. */
function withSettings(sentence: string): ReactNode {
  // Every second part is a match.
  return sentence
    .split(setting)
    .map((part, index) => (index % 2 === 1 ? <Code key={part}>{part}</Code> : part));
}

/** The settings that are missing for the records, in one notice. */
export function DomainProblems({ domain: { problems, state } }: { domain: DomainDetail }) {
  const [first] = problems;
  if (first === undefined) return null;
  const isVerified = state === 'verified';
  if (problems.length === 1)
    return (
      <Alert color="yellow" title={withSettings(first.sentence)}>
        {isVerified ? undefined : withSettings(first.nextStep)}
      </Alert>
    );
  return (
    <Alert color="yellow" title={text('domains.incomplete')}>
      <List size="sm">
        {problems.map(({ setting, sentence, nextStep }) => (
          <List.Item key={setting}>
            {withSettings(sentence)} {!isVerified && withSettings(nextStep)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

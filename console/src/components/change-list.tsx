import { List, Text } from '@mantine/core';
import type { MemberChange } from '../api/if-unchanged.ts';
import { describeValue } from '../format/describe-value.ts';
import { text, textOr } from '../texts/text.ts';

/** Concurrent changes: each member with its previous and current value. */
export function ChangeList({ changes }: { changes: readonly MemberChange[] }) {
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

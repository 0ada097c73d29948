import { Badge } from '@mantine/core';
import { text } from '../texts/text.ts';

/** The version that messages use; null: there is none yet. */
export function PublishedBadge({ version }: { version: number | null }) {
  return (
    <Badge
      component="span"
      className="state-badge"
      data-color={version === null ? 'gray' : 'green'}
      tt="none"
    >
      {version === null ? text('templates.unpublished') : text('templates.published', { version })}
    </Badge>
  );
}

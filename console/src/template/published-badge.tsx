import { Tag } from '../components/tag.tsx';
import { text } from '../texts/text.ts';

/** The version that messages use; null: there is none yet. */
export function PublishedBadge({ version }: { version: number | null }) {
  return (
    <Tag color={version === null ? 'gray' : 'green'}>
      {version === null ? text('templates.unpublished') : text('templates.published', { version })}
    </Tag>
  );
}

import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { withBreaks } from './with-breaks.tsx';

interface PageHeadingProps {
  title: string;
  /** One sentence about the page. */
  hint?: ReactNode;
  /** The state of what the page shows, next to the title. */
  state?: ReactNode;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The heading of a page, also used as the document title. */
export function PageHeading({ title, hint, state, children }: PageHeadingProps) {
  useEffect(() => {
    document.title = `${title} · Signalpost`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="lg" gap="sm" className="page-heading">
      <div>
        <Group gap="xs">
          <Title order={1} className="breakable" dir="auto">
            {withBreaks(title)}
          </Title>
          {state}
        </Group>
        {hint !== undefined && (
          <Text size="sm" c="dimmed" maw={640} mt={2} dir="auto">
            {hint}
          </Text>
        )}
      </div>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}

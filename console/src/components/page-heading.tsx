import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { withBreaks } from './with-breaks.tsx';

interface PageHeadingProps {
  title: string;
  /** One sentence about the page. */
  hint?: string;
  /** The actions of the page. */
  children?: ReactNode;
}

/** The heading of a page, also used as the document title. */
export function PageHeading({ title, hint, children }: PageHeadingProps) {
  useEffect(() => {
    document.title = `${title} · Signalpost`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="lg" gap="sm" className="page-heading">
      <div>
        <Title order={1} className="breakable" dir="auto">
          {withBreaks(title)}
        </Title>
        {hint !== undefined && (
          <Text size="sm" c="dimmed" maw={640}>
            {hint}
          </Text>
        )}
      </div>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}

import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PageSectionProps {
  title: string;
  /** A sentence that says what stands here. */
  hint: string;
  children: ReactNode;
}

/** A further part of a page, under a heading of its own. */
export function PageSection({ title, hint, children }: PageSectionProps) {
  return (
    <section>
      <Title order={2} mt="xl">
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {hint}
      </Text>
      {children}
    </section>
  );
}

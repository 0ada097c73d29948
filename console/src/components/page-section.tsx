import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PageSectionProps {
  title: string;
  /** One sentence about the section. */
  hint: string;
  children: ReactNode;
}

/** A section of a page with its own heading. */
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

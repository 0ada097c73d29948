import { Text, type TextProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** A secondary text: small and pale. */
export function Note({ children, ...props }: TextProps & { readonly children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed" {...props}>
      {children}
    </Text>
  );
}

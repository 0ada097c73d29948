import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

interface TagProps {
  /** One of those of `.state-badge`. */
  color?: string;
  size?: 'sm';
  children: ReactNode;
}

/** A short word about the state of what is next to it. */
export function Tag({ color = 'gray', size, children }: TagProps) {
  return (
    <Badge
      component="span"
      className="state-badge"
      data-color={color}
      tt="none"
      {...(size && { size })}
    >
      {children}
    </Badge>
  );
}

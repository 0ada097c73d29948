import './domain-texts.ts';
import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import { textOr } from '../texts/text.ts';

const colors: Readonly<Record<string, string>> = {
  verified: 'green',
  pending: 'yellow',
  broken: 'red',
  wrong: 'red',
};

/** The state of a domain. */
export function DomainBadge({ state, children }: { state: string; children?: ReactNode }) {
  return (
    <Badge className="state-badge" data-color={colors[state] ?? 'gray'} tt="none">
      {children ?? textOr(`domains.state.${state}`, state)}
    </Badge>
  );
}

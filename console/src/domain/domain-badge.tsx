import './domain-texts.ts';
import type { ReactNode } from 'react';
import { Tag } from '../components/tag.tsx';
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
    <Tag color={colors[state] ?? 'gray'}>{children ?? textOr(`domains.state.${state}`, state)}</Tag>
  );
}

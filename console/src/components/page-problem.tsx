import type { ReactNode } from 'react';
import { isNotFound } from '../api/problem.ts';
import { text } from '../texts/text.ts';
import { EmptyState } from './empty-state.tsx';
import type { IconName } from './icon.tsx';
import { ProblemAlert, problemTitle } from './problem-alert.tsx';

interface PageProblemProps {
  error: unknown;
  retry?: () => void;
  icon: IconName;
  /** What the page was asked for, if the heading already says that it doesn't exist. */
  name?: string;
  /** Leads back to the list. */
  children: ReactNode;
}

/** Why the thing of a page can't be shown. That it doesn't exist is no failure of the page. */
export function PageProblem({ error, retry, icon, name, children }: PageProblemProps) {
  if (!isNotFound(error)) return <ProblemAlert error={error} retry={retry} />;
  const title = problemTitle(error);
  return (
    <div role="alert" aria-label={title}>
      <EmptyState icon={icon} title={name ?? title} hint={text('problem.gone')}>
        {children}
      </EmptyState>
    </div>
  );
}

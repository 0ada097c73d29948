import type { ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { text } from '../texts/text.ts';
import { EmptyState } from './empty-state.tsx';
import type { IconName } from './icon.tsx';
import { ProblemAlert, problemTitle } from './problem-alert.tsx';

interface PageProblemProps {
  error: unknown;
  retry?: () => void;
  icon: IconName;
  /** Leads back to the list. */
  children: ReactNode;
}

/** Why the thing of a page can't be shown. That it doesn't exist is no failure of the page. */
export function PageProblem({ error, retry, icon, children }: PageProblemProps) {
  if (!(error instanceof ApiProblem) || error.status !== 404)
    return <ProblemAlert error={error} retry={retry} />;
  const title = problemTitle(error);
  return (
    <div role="alert" aria-label={title}>
      <EmptyState icon={icon} title={title} hint={text('problem.gone')}>
        {children}
      </EmptyState>
    </div>
  );
}

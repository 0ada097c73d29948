import { Skeleton, Stack } from '@mantine/core';
import { Suspense } from 'react';
import { useAccount } from '../account/use-me.ts';
import { lazyComponent } from '../components/lazy-component.ts';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { AttentionPanel } from './attention-panel.tsx';
import { KeyMetrics } from './key-metrics.tsx';
import { LatestMessages } from './latest-messages.tsx';
import { hasSteps, useSendReadiness } from './use-overview.ts';

// Only accounts without a message show it, and it takes much of what dialogs need.
const FirstSteps = lazyComponent(() => import('./first-steps.tsx'), 'FirstSteps');

/** Current activity, what needs attention, and next steps for new accounts. */
export function OverviewPage() {
  const { account } = useAccount();
  const { data: readiness, error, refetch } = useSendReadiness();
  const heading = (
    <PageHeading
      title={account?.name ?? text('overview.title')}
      {...(account?.demo === true && { hint: text('overview.demo') })}
    />
  );
  if (readiness === undefined)
    return (
      <>
        {heading}
        <ProblemAlert error={error} retry={() => refetch()} />
        {error === null && <Skeleton height={240} />}
      </>
    );
  // Before the first message, there are no figures to show.
  if (hasSteps(readiness))
    return (
      <>
        {heading}
        <Stack gap="lg">
          <Suspense fallback={<Skeleton height={240} />}>
            <FirstSteps readiness={readiness} />
          </Suspense>
          <AttentionPanel hidesEmpty />
          <LatestMessages hidesEmpty />
        </Stack>
      </>
    );
  return (
    <>
      {heading}
      <Stack gap="lg">
        <AttentionPanel />
        <KeyMetrics />
        <LatestMessages />
      </Stack>
    </>
  );
}

import { Grid, Skeleton, Stack } from '@mantine/core';
import { useAccount } from '../account/use-me.ts';
import { PageHeading } from '../components/page-heading.tsx';
import { text } from '../texts/text.ts';
import { AttentionPanel } from './attention-panel.tsx';
import { FirstSteps, hasSteps } from './first-steps.tsx';
import { KeyMetrics } from './key-metrics.tsx';
import { LatestMessages } from './latest-messages.tsx';
import { useSendReadiness } from './use-overview.ts';

/** Current activity, what needs attention, and next steps for new accounts. */
export function OverviewPage() {
  const { account } = useAccount();
  const { data: readiness } = useSendReadiness();
  if (readiness === undefined) return <Skeleton height={240} />;
  // Before the first message, there are no figures to show.
  if (hasSteps(readiness))
    return (
      <>
        <PageHeading
          title={account?.name ?? text('overview.title')}
          {...(account?.demo === true && { hint: text('overview.demo') })}
        />
        <Stack gap="lg">
          <FirstSteps readiness={readiness} />
          <AttentionPanel />
          <LatestMessages />
        </Stack>
      </>
    );
  return (
    <>
      <PageHeading
        title={account?.name ?? text('overview.title')}
        {...(account?.demo === true && { hint: text('overview.demo') })}
      />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="lg">
            <KeyMetrics />
            <LatestMessages />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="lg">
            <AttentionPanel />
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

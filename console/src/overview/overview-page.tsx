import { Grid, Skeleton, Stack } from '@mantine/core';
import { useAccount } from '../account/use-me.ts';
import { PageHeading } from '../components/page-heading.tsx';
import { text } from '../texts/text.ts';
import { AttentionPanel } from './attention-panel.tsx';
import { KeyMetrics } from './key-metrics.tsx';
import { LatestMessages } from './latest-messages.tsx';
import { NextSteps, useSteps } from './next-steps.tsx';

/** Current activity, what needs attention, and next steps for new accounts. */
export function OverviewPage() {
  const { account } = useAccount();
  const nextSteps = useSteps();
  return (
    <>
      <PageHeading title={account?.name ?? text('overview.title')} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="lg">
            <KeyMetrics />
            <LatestMessages />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="lg">
            {nextSteps === undefined ? (
              <Skeleton height={240} />
            ) : (
              <>
                {nextSteps !== null && <NextSteps {...nextSteps} />}
                <AttentionPanel />
              </>
            )}
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

import { Grid, Skeleton, Stack } from '@mantine/core';
import { useAccount } from '../account/use-me.ts';
import { PageHeading } from '../parts/page-heading.tsx';
import { text } from '../texts/text.ts';
import { Attention } from './attention.tsx';
import { Figures } from './figures.tsx';
import { LatestMessages } from './latest-messages.tsx';
import { NextSteps, useSteps } from './next-steps.tsx';

/** What the account is doing now, what needs somebody, and what comes next for those who have just begun. */
export function OverviewPage() {
  const { account } = useAccount();
  const way = useSteps();
  return (
    <>
      <PageHeading title={account?.name ?? text('overview.title')} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="lg">
            <Figures />
            <LatestMessages />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="lg">
            {way === undefined ? (
              <Skeleton height={240} />
            ) : (
              <>
                {way !== null && <NextSteps {...way} />}
                <Attention />
              </>
            )}
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

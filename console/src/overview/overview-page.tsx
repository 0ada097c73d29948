import { Grid, Stack } from '@mantine/core';
import { useAccount } from '../account/use-me.ts';
import { PageHeading } from '../parts/page-heading.tsx';
import { text } from '../texts/text.ts';
import { Attention } from './attention.tsx';
import { LatestMessages } from './latest-messages.tsx';
import { Month } from './month.tsx';
import { NextSteps } from './next-steps.tsx';

/** What the account is doing now, what needs somebody, and what comes next for those who have just begun. */
export function OverviewPage() {
  const { account } = useAccount();
  return (
    <>
      <PageHeading title={account?.name ?? text('overview.title')} hint={text('overview.hint')} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="lg">
            <Month />
            <LatestMessages />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="lg">
            <Attention />
            <NextSteps />
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

import './settings-texts.ts';
import { Stack } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { PageHeading } from '../components/page-heading.tsx';
import { text } from '../texts/text.ts';
import { PolicySettings } from './policy-settings.tsx';
import { SignInProviderSettings } from './sign-in-provider-settings.tsx';

/** How the account's people and programs get in. */
export function AccessSettingsPage() {
  const account = useAccountId();
  return (
    <>
      <PageHeading title={text('nav.access')} hint={text('access.hint')} />
      <Stack gap="lg" maw={760}>
        <PolicySettings key={`policy ${account}`} />
        <SignInProviderSettings key={`provider ${account}`} />
      </Stack>
    </>
  );
}

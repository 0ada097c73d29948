import { Group } from '@mantine/core';
import { useAccountId, useMe } from '../account/use-me.ts';
import { PageAnchor } from '../components/links.tsx';
import { text } from '../texts/text.ts';

const tabs = [
  { to: '/$account/destinations', name: 'destinations.tab.queue' },
  { to: '/$account/destinations/receivers', name: 'destinations.tab.receivers' },
  { to: '/$account/destinations/tls', name: 'destinations.tab.tls' },
] as const;

/** The pages about delivery, one for each question. Only operators see those of the installation. */
export function DestinationTabs() {
  const account = useAccountId();
  const { data: me } = useMe();
  if (me?.operator !== true) return null;
  return (
    <Group
      component="nav"
      gap={0}
      mb="md"
      className="page-tabs"
      aria-label={text('destinations.tabs')}
    >
      {tabs.map(({ to, name }) => (
        <PageAnchor
          key={to}
          to={to}
          params={{ account }}
          className="page-tab"
          underline="never"
          activeOptions={{ exact: true }}
          activeProps={{ 'data-active': true, 'aria-current': 'page' } as object}
        >
          {text(name)}
        </PageAnchor>
      ))}
    </Group>
  );
}

import { useMe } from '../account/use-me.ts';
import { type PageTab, PageTabs } from '../components/page-tabs.tsx';

const tabs: readonly PageTab[] = [
  { to: '/$account/destinations', name: 'destinations.tab.queue' },
  { to: '/$account/destinations/receivers', name: 'destinations.tab.receivers' },
  { to: '/$account/destinations/tls', name: 'destinations.tab.tls' },
];

/** The pages about delivery. Only operators see those of the installation. */
export function DestinationTabs() {
  const { data: me } = useMe();
  if (me?.operator !== true) return null;
  return <PageTabs label="destinations.tabs" tabs={tabs} />;
}

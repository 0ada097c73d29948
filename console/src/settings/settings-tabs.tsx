import { useMay } from '../account/use-me.ts';
import { type PageTab, PageTabs } from '../components/page-tabs.tsx';

const tabs: readonly PageTab[] = [
  { to: '/$account/settings', name: 'settings.tab.general' },
  { to: '/$account/settings/access', name: 'settings.tab.access' },
];

/** The pages of the account's settings. Access is for those who can change it. */
export function SettingsTabs() {
  const may = useMay();
  if (!may('account:write') && !may('users:write')) return null;
  return <PageTabs label="settings.tabs" tabs={tabs} />;
}

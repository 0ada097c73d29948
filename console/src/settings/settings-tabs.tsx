import { useMay, useMe } from '../account/use-me.ts';
import { type PageTab, PageTabs } from '../components/page-tabs.tsx';

const general: PageTab = { to: '/$account/settings', name: 'settings.tab.general' };
const access: PageTab = { to: '/$account/settings/access', name: 'settings.tab.access' };
const processes: PageTab = { to: '/$account/settings/processes', name: 'settings.tab.processes' };

/** The pages of the account's settings. Access is for those who can change it, and processes for operators. */
export function SettingsTabs() {
  const may = useMay();
  const { data: me } = useMe();
  const tabs = [
    general,
    ...(may('policy:write') || may('users:write') ? [access] : []),
    ...(me?.operator === true ? [processes] : []),
  ];
  if (tabs.length === 1) return null;
  return <PageTabs label="settings.tabs" tabs={tabs} />;
}

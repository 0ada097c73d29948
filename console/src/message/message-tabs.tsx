import { type PageTab, PageTabs } from '../components/page-tabs.tsx';
// Adds the texts.
import './event-texts.ts';

const tabs: readonly PageTab[] = [
  { to: '/$account/messages', name: 'messages.title' },
  { to: '/$account/messages/replies', name: 'replies.title' },
];

/** What was sent, and what came back. */
export function MessageTabs() {
  return <PageTabs label="messages.title" tabs={tabs} />;
}

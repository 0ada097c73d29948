import { Group } from '@mantine/core';
import { type TextKey, text } from '../texts/text.ts';
import { PageAnchor } from './links.tsx';

export interface PageTab {
  readonly to:
    | '/$account/messages'
    | '/$account/messages/replies'
    | '/$account/destinations'
    | '/$account/destinations/receivers'
    | '/$account/destinations/tls'
    | '/$account/settings'
    | '/$account/settings/access'
    | '/$account/settings/processes';
  readonly name: TextKey;
}

/** Links between the pages about one thing, one for each question. */
export function PageTabs({ label, tabs }: { label: TextKey; tabs: readonly PageTab[] }) {
  return (
    <Group component="nav" gap={0} mb="md" className="page-tabs" aria-label={text(label)}>
      {tabs.map(({ to, name }) => (
        <PageAnchor
          key={to}
          to={to}
          className="page-tab"
          underline="never"
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'data-active': true, 'aria-current': 'page' } as object}
        >
          {text(name)}
        </PageAnchor>
      ))}
    </Group>
  );
}

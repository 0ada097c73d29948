import './editor-texts.ts';
import './template-tabs.css';
import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { PageAnchor } from '../components/links.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { text } from '../texts/text.ts';
import { PublishedBadge } from './published-badge.tsx';
import { TemplateMenu } from './template-menu.tsx';
import { useTemplate } from './use-template.ts';

const pages = {
  edit: { to: '/$account/templates/$template' },
  preview: { to: '/$account/templates/$template', search: { view: 'preview' } },
  versions: { to: '/$account/templates/$template/versions' },
  use: { to: '/$account/templates/$template/use' },
} as const;

interface TemplateTabsProps {
  page: keyof typeof pages;
  /** Switches between the source and the preview without leaving the page. */
  choose?: (page: 'edit' | 'preview') => void;
  /** What the page knows about the draft, next to the title. */
  state?: ReactNode;
  /** The actions of the page, with the menu of the template, which can start with items of the page. */
  actions?: (menu: (items?: ReactNode) => ReactNode) => ReactNode;
  children: ReactNode;
}

/** The layout around the pages of a template. */
export function TemplateTabs({ page, choose, state, actions, children }: TemplateTabsProps) {
  const account = useAccountId();
  const { template = '' } = useParams({ strict: false });
  const { data } = useTemplate();
  const navigate = useNavigate();
  const open = (chosen: keyof typeof pages) => {
    if (choose !== undefined && (chosen === 'edit' || chosen === 'preview')) return choose(chosen);
    return navigate({ ...pages[chosen], params: { account, template } });
  };
  const menu = (items?: ReactNode) =>
    data !== undefined && (
      <TemplateMenu template={data} onPage>
        {items}
      </TemplateMenu>
    );
  return (
    <>
      <PageAnchor to="/$account/templates" size="sm">
        {text('templates.all')}
      </PageAnchor>
      <div className="template-bar" data-page={page === 'preview' ? 'edit' : page}>
        <PageHeading
          title={data?.name ?? template}
          state={
            <>
              {data !== undefined && <PublishedBadge version={data.publishedVersion} />}
              {state}
            </>
          }
        >
          {actions === undefined ? menu() : actions(menu)}
        </PageHeading>
      </div>
      <Tabs
        value={page}
        onChange={(value) => open(value as keyof typeof pages)}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="edit">{text('editor.edit')}</Tabs.Tab>
          <Tabs.Tab value="preview">{text('editor.preview')}</Tabs.Tab>
          <Tabs.Tab value="versions">{text('editor.versions')}</Tabs.Tab>
          <Tabs.Tab value="use">{text('editor.use')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value={page}>{children}</Tabs.Panel>
      </Tabs>
    </>
  );
}

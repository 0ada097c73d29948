import { PageButton } from '../../components/links.tsx';
import { PageProblem } from '../../components/page-problem.tsx';
import { RowsSkeleton } from '../../components/rows-skeleton.tsx';
import { text } from '../../texts/text.ts';
import { TemplateTabs } from '../template-tabs.tsx';
import { useTemplatePath } from '../use-template.ts';
import { Editor } from './editor.tsx';
import { useInitialContent } from './use-draft.ts';

/** The editor of a template, once its content is loaded. */
export function EditorPage() {
  const { templateId } = useTemplatePath();
  const { data: initial, error } = useInitialContent();
  if (initial !== undefined) return <Editor key={templateId} initial={initial} />;
  return (
    <TemplateTabs page="edit">
      <PageProblem error={error} icon="templates">
        <PageButton to="/$account/templates">{text('templates.all')}</PageButton>
      </PageProblem>
      {error === null && <RowsSkeleton />}
    </TemplateTabs>
  );
}

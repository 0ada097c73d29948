import { ProblemAlert } from '../../components/problem-alert.tsx';
import { RowsSkeleton } from '../../components/rows-skeleton.tsx';
import { TemplateTabs } from '../template-tabs.tsx';
import { useTemplatePath } from '../use-template.ts';
import { Editor } from './editor.tsx';
import { useInitialContent } from './use-draft.ts';

/** The editor of a template, once its content is loaded. */
export function EditorPage() {
  const { templateId } = useTemplatePath();
  const { initial, error } = useInitialContent();
  if (initial !== undefined)
    return <Editor key={`${templateId} ${initial.tag}`} initial={initial} />;
  return (
    <TemplateTabs page="edit">
      <ProblemAlert error={error} />
      {error === null && <RowsSkeleton />}
    </TemplateTabs>
  );
}

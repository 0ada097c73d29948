import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { RowsSkeleton } from '../../parts/rows.tsx';
import { TemplateTabs } from '../template-tabs.tsx';
import { useTemplatePath } from '../use-template.ts';
import { Editor } from './editor.tsx';
import { useBeginning } from './use-draft.ts';

/** The editor of a template, once it is known what it begins with. */
export function EditorPage() {
  const { templateId } = useTemplatePath();
  const { beginning, error } = useBeginning();
  if (beginning !== undefined)
    return <Editor key={`${templateId} ${beginning.tag}`} beginning={beginning} />;
  return (
    <TemplateTabs page="edit">
      <ProblemAlert error={error} />
      {error === null && <RowsSkeleton />}
    </TemplateTabs>
  );
}

import { Field, IdField } from '../parts/field.tsx';
import { text } from '../texts/text.ts';

interface TemplateNameFieldsProps {
  name: string;
  id: string;
  changeName: (name: string) => void;
  changeId: (id: string) => void;
  error: unknown;
}

/** What a new template is called: for people, and in the address of the send operation. */
export function TemplateNameFields(props: TemplateNameFieldsProps) {
  const { name, id, changeName, changeId, error } = props;
  return (
    <>
      <Field
        field="name"
        label={text('templates.name')}
        required
        maxLength={200}
        value={name}
        change={changeName}
        error={error}
        data-autofocus
      />
      <IdField
        field="id"
        label={text('templates.id')}
        description={text('templates.idHint')}
        value={id}
        change={changeId}
        error={error}
      />
    </>
  );
}

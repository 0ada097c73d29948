import { Alert, NativeSelect } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '../../account/use-me.ts';
import type { paths } from '../../api/management.generated.ts';
import { answerOf, api } from '../../api/management.ts';
import { Field } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { JsonArea } from '../../components/json-area.tsx';
import { nameLocale } from '../../format/name-locale.ts';
import { text } from '../../texts/text.ts';
import { useTemplatePath } from '../use-template.ts';
import type { EditedDraft } from './use-save-draft.ts';

type TestSend =
  paths['/accounts/{accountId}/templates/{templateId}/test-send']['post']['requestBody'];
type Values = NonNullable<TestSend['content']['application/json']['values']>;

interface TestDialogProps {
  opened: boolean;
  close: () => void;
  draft: EditedDraft;
}

/** Sends the draft with its samples to an address and links to the message. */
export function TestDialog({ opened, close, draft }: TestDialogProps) {
  const path = useTemplatePath();
  const navigate = useNavigate();
  const { data: me } = useMe();
  const [typed, setTyped] = useState<string>();
  const [values, setValues] = useState<Values>();
  const [locale, setLocale] = useState('');
  const locales = Object.keys(draft.content.variants ?? {}).toSorted();
  const to = typed ?? me?.person?.email ?? '';

  async function submit() {
    await draft.save();
    const { messageId } = await answerOf(
      api.POST('/accounts/{accountId}/templates/{templateId}/test-send', {
        params: { path },
        body: {
          to,
          ...(values === undefined ? {} : { values }),
          ...(locales.includes(locale) ? { locale } : {}),
        },
      }),
    );
    await navigate({
      to: '/$account/messages/$message',
      params: { account: path.accountId, message: messageId },
    });
  }

  return (
    <FormDialog
      opened={opened}
      close={close}
      title={text('editor.test')}
      action={text('editor.test')}
      submit={submit}
    >
      {(error) => (
        <>
          <Alert color="gray">{text('editor.testHint')}</Alert>
          <Field
            field="to"
            label={text('editor.testTo')}
            type="email"
            required
            value={to}
            change={setTyped}
            error={error}
            data-autofocus
          />
          {locales.length > 0 && (
            <NativeSelect
              label={text('editor.language')}
              value={locale}
              onChange={(event) => setLocale(event.currentTarget.value)}
              data={[
                {
                  value: '',
                  label: text('editor.defaultLanguage', {
                    locale: nameLocale(draft.content.locale),
                  }),
                },
                ...locales.map((value) => ({ value, label: nameLocale(value) })),
              ]}
            />
          )}
          <JsonArea
            label={text('editor.testValues')}
            description={text('editor.testValuesHint')}
            value={values}
            change={(value) => setValues(value as Values | undefined)}
          />
        </>
      )}
    </FormDialog>
  );
}

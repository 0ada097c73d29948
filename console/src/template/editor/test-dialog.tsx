import { Alert, Button, Group, Modal, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useMay, useMe } from '../../account/use-me.ts';
import type { paths } from '../../api/management.generated.ts';
import { api } from '../../api/management.ts';
import { useGet } from '../../api/use-get.ts';
import { choicesOf } from '../../components/choices-of.ts';
import { Field } from '../../components/field.tsx';
import { DialogForm } from '../../components/form-dialog.tsx';
import { JsonArea } from '../../components/json-area.tsx';
import { PageButton } from '../../components/links.tsx';
import { Note } from '../../components/note.tsx';
import { ProblemAlert } from '../../components/problem-alert.tsx';
import { nameLocale } from '../../format/name-locale.ts';
import { DeliveryExplanationAlert } from '../../message/delivery-explanation-alert.tsx';
import { isFinalMessageState } from '../../message/message-states.ts';
import { text } from '../../texts/text.ts';
import { useTemplatePath } from '../use-template.ts';
import type { EditedDraft } from './use-save-draft.ts';

/** How often the state of a test message is read. */
const pollMs = 1_000;

type TestSend =
  paths['/accounts/{accountId}/templates/{templateId}/test-send']['post']['requestBody'];
type Values = NonNullable<TestSend['content']['application/json']['values']>;

interface SentTest {
  readonly to: string;
  readonly messageId: string;
}

interface TestDialogProps {
  opened: boolean;
  close: () => void;
  draft: EditedDraft;
}

/** Sends the draft with its samples to an address and says whether it arrived. */
export function TestDialog({ opened, close, draft }: TestDialogProps) {
  const [sent, setSent] = useState<SentTest>();
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text('editor.test')}
      onExitTransitionEnd={() => setSent(undefined)}
    >
      {sent === undefined ? (
        <TestForm close={close} draft={draft} onSent={setSent} />
      ) : (
        <TestOutcome sent={sent} close={close} again={() => setSent(undefined)} />
      )}
    </Modal>
  );
}

interface TestFormProps {
  close: () => void;
  draft: EditedDraft;
  onSent: (sent: SentTest) => void;
}

function TestForm({ close, draft, onSent }: TestFormProps) {
  const path = useTemplatePath();
  const { data: me } = useMe();
  const [typed, setTyped] = useState<string>();
  const [values, setValues] = useState<Values>();
  const [locale, setLocale] = useState('');
  const locales = Object.keys(draft.content.variants ?? {}).toSorted();
  const to = typed ?? me?.person?.email ?? '';

  async function submit() {
    await draft.save();
    const { messageId } = await api.post(
      '/accounts/{accountId}/templates/{templateId}/test-send',
      path,
      {
        to,
        ...(values === undefined ? {} : { values }),
        ...(locales.includes(locale) ? { locale } : {}),
      },
    );
    onSent({ to, messageId });
  }

  return (
    <DialogForm close={close} action={text('editor.test')} submit={submit} stay>
      <Note size="sm">{text('editor.testHint')}</Note>
      <Field
        field="to"
        label={text('editor.testTo')}
        type="email"
        required
        value={to}
        change={setTyped}
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
            ...choicesOf(locales, nameLocale),
          ]}
        />
      )}
      <JsonArea
        label={text('editor.testValues')}
        description={text('editor.testValuesHint')}
        value={values}
        change={(value) => setValues(value as Values | undefined)}
      />
    </DialogForm>
  );
}

interface TestOutcomeProps {
  sent: SentTest;
  close: () => void;
  again: () => void;
}

/** Follows a test message until it arrives or fails. */
function TestOutcome({ sent: { to, messageId }, close, again }: TestOutcomeProps) {
  const may = useMay();
  const canRead = may('messages:read');
  const { data: message, error } = useGet('/accounts/{accountId}/messages/{messageId}', {
    params: { messageId },
    enabled: canRead,
    refetchInterval: ({ state }) => (isFinalMessageState(state.data?.state) ? false : pollMs),
  });
  const isCaptured = message?.state === 'delivered' && may('inbox:read');
  return (
    <Stack>
      {!isCaptured && (
        <Text size="sm" className="breakable">
          {text('editor.testSent', { to })}
        </Text>
      )}
      <ProblemAlert error={error} />
      {message !== undefined && !isCaptured && <DeliveryExplanationAlert message={message} />}
      {isCaptured && (
        <Alert color="green" title={text('editor.testArrived')} role="status">
          <Text size="sm">{text('editor.testCaptured', { to })}</Text>
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={again} data-autofocus>
          {text('editor.testAgain')}
        </Button>
        {canRead ? (
          <PageButton
            to="/$account/messages/$message"
            params={{ message: messageId }}
            variant="filled"
          >
            {text('editor.testMessage')}
          </PageButton>
        ) : (
          <Button onClick={close}>{text('close')}</Button>
        )}
      </Group>
    </Stack>
  );
}

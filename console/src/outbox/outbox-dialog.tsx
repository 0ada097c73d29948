import { NativeSelect, NumberInput } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import { createNew, putUnchanged } from '../api/if-unchanged.ts';
import type { OutboxSource } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { Field, IdField } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

export const outboxPath = '/accounts/{accountId}/outbox-sources/{sourceId}';

type Source = Pick<OutboxSource, 'after' | 'answers' | 'id' | 'rowsPerSecond' | 'table'>;

function toValues(source: Source | undefined) {
  return {
    id: source?.id ?? '',
    table: source?.table ?? 'email_outbox',
    url: '',
    answers: source?.answers ?? '',
    after: source?.after ?? ('keep' as const),
    rowsPerSecond: (source?.rowsPerSecond ?? 500) as number | string,
  };
}

interface OutboxDialogProps {
  close: () => void;
  /** If given, it is edited. */
  source?: Source;
}

/** Adds an outbox, or edits one. */
export const OutboxDialog = dialogOf(OutboxForm, ({ source }) =>
  source === undefined ? text('outboxes.add') : text('outboxes.change', { id: source.id }),
);

function OutboxForm({ close, ...props }: OutboxDialogProps) {
  const accountId = useAccountId();
  const refresh = useRefresh('outbox-sources');
  const { values, change, stored, dialog } = useForm({
    stored: props.source as Source | undefined,
    toValues,
    async save({ values: { id, url, table, answers, after, rowsPerSecond }, stored: source }) {
      const params = { accountId, sourceId: id };
      const body = { after, rowsPerSecond: Number(rowsPerSecond), ...(url !== '' && { url }) };
      const tables = { table, ...(answers !== '' && { answers }) };
      const saved = await (source === undefined
        ? createNew('id', outboxPath, params, { ...tables, ...body })
        : putUnchanged(outboxPath, params, seenOf(source), body));
      await refresh();
      return saved;
    },
  });
  const isNew = stored === undefined;

  return (
    <DialogForm close={close} action={text(isNew ? 'outboxes.add' : 'save')} {...dialog}>
      {(error) => (
        <>
          {isNew && (
            <IdField
              field="id"
              label={text('outboxes.id')}
              description={text('outboxes.idHint')}
              value={values.id}
              change={(id) => change({ id })}
              data-autofocus
            />
          )}
          <Field
            field="url"
            label={text('outboxes.url')}
            description={text(isNew ? 'outboxes.urlHint' : 'outboxes.urlKept')}
            placeholder="postgres://user:password@host:5432/database"
            autoComplete="off"
            required={isNew}
            value={values.url}
            change={(url) => change({ url })}
          />
          {isNew && (
            <>
              <Field
                field="table"
                label={text('outboxes.table')}
                description={text('outboxes.tableHint')}
                required
                value={values.table}
                change={(table) => change({ table })}
              />
              <Field
                field="answers"
                label={text('outboxes.answers')}
                description={text('outboxes.answersHint')}
                value={values.answers}
                change={(answers) => change({ answers })}
              />
            </>
          )}
          <NativeSelect
            label={text('outboxes.after')}
            value={values.after}
            onChange={(event) => change({ after: event.currentTarget.value as Source['after'] })}
            data={choicesOf(['keep', 'delete'], (after) => text(`outboxes.after.${after}`))}
            error={reasonFor(error, 'after')}
          />
          <NumberInput
            label={text('outboxes.rate')}
            required
            min={1}
            max={5_000}
            allowDecimal={false}
            value={values.rowsPerSecond}
            onChange={(rowsPerSecond) => change({ rowsPerSecond })}
            error={reasonFor(error, 'rowsPerSecond')}
          />
        </>
      )}
    </DialogForm>
  );
}

/** What the page shows of it that others can change. */
export function seenOf({ after, rowsPerSecond }: Source) {
  return { after, rowsPerSecond };
}

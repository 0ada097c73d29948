import { Button } from '@mantine/core';
import { useMay } from '../account/use-me.ts';
import { Confirm } from '../components/confirm.tsx';
import { showNotice } from '../components/notices.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { formatToMinute } from '../format/format-time.ts';
import { text } from '../texts/text.ts';
import { describeChange, useScheduleChanges } from './change-schedule.ts';
import { MoveDialog } from './move-dialog.tsx';

interface ScheduledItem {
  readonly messageId: string;
  readonly sendAt: string;
  readonly to: string | null;
}

interface ScheduleActionsProps {
  message: ScheduledItem;
  /** On the page of the message, which offers to cancel elsewhere. */
  onPage?: boolean;
}

/** Moves, sends or cancels a scheduled message, if the person may. */
export function ScheduleActions({ message, onPage = false }: ScheduleActionsProps) {
  const may = useMay();
  const { move, cancel } = useScheduleChanges();
  const moveDialog = useDialog();
  const cancelDialog = useDialog();
  const sendDialog = useDialog();
  if (!may('queue:control')) return null;
  const { messageId, sendAt, to } = message;
  const name = to ?? messageId;
  return (
    <>
      {onPage ? (
        <>
          <Button variant="default" onClick={moveDialog.open}>
            {text('schedule.move')}
          </Button>
          <Button variant="default" onClick={sendDialog.open}>
            {text('schedule.sendNow')}
          </Button>
        </>
      ) : (
        <RowMenu
          name={name}
          items={[
            { label: text('schedule.move'), choose: moveDialog.open },
            { label: text('schedule.sendNow'), choose: sendDialog.open },
            { label: text('schedule.cancelMessage'), color: 'red', choose: cancelDialog.open },
          ]}
        />
      )}
      <MoveDialog
        {...moveDialog.props}
        title={text('schedule.moveTitle')}
        sendAt={sendAt}
        move={async (time) => {
          const change = await move({ messageId }, time);
          showNotice(
            change.skipped > 0
              ? describeChange('moved', change)
              : text('schedule.movedTo', { time: formatToMinute(time) }),
          );
        }}
      />
      <Confirm
        {...sendDialog.props}
        title={text('schedule.sendNowTitle')}
        consequence={text('schedule.sendNowConsequence', { to: name })}
        action={text('schedule.sendNow')}
        confirm={() => move({ messageId }, new Date().toISOString())}
      />
      <Confirm
        {...cancelDialog.props}
        title={text('schedule.cancelTitle')}
        consequence={text('schedule.cancelConsequence', { to: name })}
        action={text('schedule.cancelMessage')}
        dismiss={text('schedule.keep')}
        destructive
        confirm={async () => showNotice(describeChange('canceled', await cancel({ messageId })))}
      />
    </>
  );
}

import { Modal } from '@mantine/core';
import type { ComponentType } from 'react';

/** A dialog with this content, whose state begins anew each time the dialog opens. */
export function dialogOf<Props extends { close: () => void }>(
  Content: ComponentType<Props>,
  title: (props: Props) => string,
  size = 'md',
) {
  return (props: Props & { opened: boolean }) => (
    <Modal opened={props.opened} onClose={props.close} title={title(props)} size={size}>
      <Content {...props} />
    </Modal>
  );
}

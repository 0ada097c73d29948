import { useDisclosure } from '@mantine/hooks';

/** The state of a dialog: what opens and closes it, and the props that it takes. */
export function useDialog() {
  const [opened, { open, close }] = useDisclosure();
  return { open, close, props: { opened, close } };
}

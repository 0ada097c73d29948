import { Text } from '@mantine/core';

export function Brand() {
  return (
    <Text component="span" fw={700} visibleFrom="xs" className="brand">
      Signalpost
    </Text>
  );
}

import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface FactsProps {
  /** Names and values; null values are skipped. */
  facts: readonly (readonly [string, ReactNode])[];
}

/** A table of names and values; the names take the width they need, up to a limit. */
export function Facts({ facts }: FactsProps) {
  return (
    <Table className="facts">
      <Table.Tbody>
        {facts.map(
          ([name, value], index) =>
            value !== null && (
              // biome-ignore lint/suspicious/noArrayIndexKey: names can repeat, and rows have no state
              <Table.Tr key={index}>
                <Table.Th scope="row">
                  <span className="fact-name">{name}</span>
                </Table.Th>
                <Table.Td className="breakable">{value}</Table.Td>
              </Table.Tr>
            ),
        )}
      </Table.Tbody>
    </Table>
  );
}

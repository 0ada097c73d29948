import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { ReportRow } from '../api/management.generated.ts';

const Plot = lazy(() => import('./day-plot.tsx').then((module) => ({ default: module.DayPlot })));

/** The plot, whose script is loaded when it is shown first; its place is held meanwhile. */
export function DayPlot({ rows }: { rows: readonly ReportRow[] | undefined }) {
  if (rows === undefined) return <Skeleton height={260} />;
  return (
    <Suspense fallback={<Skeleton height={260} />}>
      <Plot rows={rows} />
    </Suspense>
  );
}

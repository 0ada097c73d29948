import { ProblemAlert } from '../parts/problem-alert.tsx';

/** Stands where a page could not be shown, such as when its script could not be loaded. */
export function PageFailure({ error, reset }: { error: unknown; reset?: () => void }) {
  return <ProblemAlert error={error} retry={reset ?? (() => location.reload())} />;
}

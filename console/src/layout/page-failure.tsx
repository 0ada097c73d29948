import { ScriptMissing } from '../parts/lazy-part.ts';
import { ProblemAlert } from '../parts/problem-alert.tsx';

/** Stands where a page could not be shown, such as when its script could not be loaded. */
export function PageFailure({ error, reset }: { error: unknown; reset: () => void }) {
  async function retry() {
    if (error instanceof ScriptMissing) await error.askAgain();
    reset();
  }

  return <ProblemAlert error={error} retry={retry} />;
}
